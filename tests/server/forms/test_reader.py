import json

import pytest

from server.forms import MAX_BYTES, MAX_COMPONENTS, MAX_DEPTH, FormReadError, read


def nested(levels: int) -> bytes:
    """A form whose own object is the first of so many levels."""
    return b'{"id": "deep", "x": ' + b"[" * (levels - 1) + b"]" * (levels - 1) + b"}"


def with_components(count: int) -> bytes:
    return json.dumps({"id": "large", "components": [{"type": "text"}] * count}).encode()


def padded(octets: int) -> bytes:
    head = b'{"id": "long"}'
    return head + b" " * (octets - len(head))


def test_a_form_has_its_id_its_tag_and_its_text() -> None:
    content = '{"id": "address", "versionTag": "stable", "title": "Straße"}'

    form = read(content.encode())

    assert (form.id, form.version_tag, form.schema) == ("address", "stable", content)


def test_the_key_of_a_component_is_the_whole_path_of_its_value() -> None:
    street = {"type": "textfield", "key": "street", "conditional": {"hide": "=a"}, "validate": {"min": 1}}
    group = {"type": "group", "path": "address", "components": [street]}

    form = read(json.dumps({"id": "f", "components": [group]}).encode())

    (found,) = form.markup.children[0].children
    assert found.tag == "textfield"
    assert found.attributes == {"key": "address.street", "conditional.hide": "=a", "validate.min": "1"}


@pytest.mark.parametrize("document", ["{}", '{"id": 7}', '{"id": null}', '{"id": "  "}'])
def test_an_id_that_is_no_text_is_empty(document: str) -> None:
    assert read(document.encode()).id == ""


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        pytest.param(b"", "expected a JSON object", id="nothing"),
        pytest.param(b'{"id": ', "expected a JSON object", id="half"),
        pytest.param(b'["id"]', "found another value", id="a list"),
        pytest.param(b'{"id": "\xff"}', "expected a JSON object", id="not UTF-8"),
        pytest.param(b'{"id": "a"}\xff', "expected a JSON object", id="something behind"),
        pytest.param(nested(100_000), "expected a JSON object", id="too deep to be read"),
        pytest.param(nested(MAX_DEPTH + 1), f"at most {MAX_DEPTH} levels", id="too deep"),
        pytest.param(
            with_components(MAX_COMPONENTS + 1), f"at most {MAX_COMPONENTS} components", id="too many"
        ),
        pytest.param(padded(MAX_BYTES + 1), f"at most {MAX_BYTES} bytes", id="too long"),
    ],
)
def test_what_is_no_form_is_refused(content: bytes, reason: str) -> None:
    with pytest.raises(FormReadError, match=reason):
        read(content)


@pytest.mark.parametrize("content", [nested(MAX_DEPTH), with_components(MAX_COMPONENTS), padded(MAX_BYTES)])
def test_forms_at_the_bounds_are_read(content: bytes) -> None:
    assert read(content).id in {"deep", "large", "long"}
