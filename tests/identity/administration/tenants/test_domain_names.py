import pytest

from identity.directory.tenants.domain_names import domain_name_of


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("example.com", "example.com"),
        ("Example.COM", "example.com"),
        ("example.com.", "example.com"),
        ("Bücher.example", "xn--bcher-kva.example"),
        ("xn--BCHER-kva.example", "xn--bcher-kva.example"),
        ("bücher。example", "xn--bcher-kva.example"),
        ("a.b.example.com", "a.b.example.com"),
        (f"{'a' * 63}.com", f"{'a' * 63}.com"),
    ],
)
def test_e11_a_name_has_one_form(text: str, name: str) -> None:
    assert name == domain_name_of(text)


@pytest.mark.parametrize(
    "text",
    [
        *("", ".", "localhost", "com.", "192.0.2.1", "::1", "[::1]", "a..example.com", ".example.com"),
        *("-a.example.com", "a_b.example.com", "*.example.com", "https://example.com", "example.com:443"),
        *("a@example.com", "exa mple.com", "example.com\n", "example.com\0", "xn--zz.example", "☃.example"),
        *(f"{'a' * 64}.com", ".".join(["a" * 60] * 4)),
    ],
)
def test_what_is_no_domain_name_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="domain: expected"):
        domain_name_of(text)
