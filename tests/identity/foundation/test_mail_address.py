import pytest

from identity.foundation.mail_address import mail_address
from tests.identity.foundation.test_visible_text import UNSEEN


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("ada@example.com", "ada@example.com"),
        (" Ada.Lovelace+x@Example.COM. ", "ada.lovelace+x@example.com"),
        ("o'neill@example.com", "o'neill@example.com"),
        ("admin@localhost", "admin@localhost"),
        ("jürgen@bücher.example", "jürgen@xn--bcher-kva.example"),
        ("ju\u0308rgen@example.com", "jürgen@example.com"),
        ("用户@例子.example", "用户@xn--fsqu00a.example"),
        ("ada@example。com", "ada@example.com"),
        ("ada@xn--bcher-kva.example", "ada@xn--bcher-kva.example"),
    ],
)
def test_an_address_has_one_stored_form(text: str, stored: str) -> None:
    assert mail_address(text) == stored


@pytest.mark.parametrize("part", UNSEEN.values(), ids=UNSEEN)
def test_an_address_has_no_character_that_nobody_sees(part: str) -> None:
    assert mail_address(f"{part}@example.com") == ""
    assert mail_address(f"ada@{part}.example.com") == ""


@pytest.mark.parametrize(
    "text",
    [
        *("", "ada", "@example.com", "ada@", "ada@@example.com", "ada@b@example.com", "a da@example.com"),
        *("ada@example..com", "ada@.example.com", "ada@-example.com", "ada@example-.com", "ada@exam_ple.com"),
        *(
            "ada@xn--a.example",
            "ada@xn--0.example",
            "ada@[127.0.0.1]",
            '"ada"@example.com',
            "<ada@example.com>",
        ),
        *(
            "ada,eve@example.com",
            "ａｄａ@example.com",
            "ada\u2019@example.com",
            "😀@example.com",
            "½@example.com",
        ),
        *(f"{'a' * 65}@example.com", f"ada@{'a' * 64}.example", f"{'a' * 60}@{'b' * 60}.{'c.' * 70}example"),
    ],
)
def test_a_text_that_is_no_address_is_none(text: str) -> None:
    assert mail_address(text) == ""
