import pytest

from server.dmn import DmnReadError
from server.dmn.document import parse
from server.xml import MAX_ATTRIBUTES, MAX_BYTES, MAX_DEPTH, MAX_ELEMENTS, MAX_NAME_LENGTH
from tests.server.dmn.models import DMN_1_5

DMN = f'xmlns="{DMN_1_5}"'.encode()
BILLION_LAUGHS = (
    b'<!DOCTYPE definitions [<!ENTITY l0 "lol">'
    + b"".join(b'<!ENTITY l%d "%s">' % (level, b"&l%d;" % (level - 1) * 10) for level in range(1, 10))
    + b"]><definitions "
    + DMN
    + b' id="&l9;">&l9;</definitions>'
)
EXTERNAL_ENTITY = (
    b'<!DOCTYPE definitions [<!ENTITY file SYSTEM "file:///etc/hostname">]>'
    b"<definitions " + DMN + b">&file;</definitions>"
)


ATTRIBUTES = b" ".join(b'a%d="1"' % index for index in range(100_000))


def nested(levels: int) -> bytes:
    inside = levels - 1
    return b"<definitions " + DMN + b">" + b"<context>" * inside + b"</context>" * inside + b"</definitions>"


@pytest.mark.parametrize(
    ("xml", "message"),
    [
        pytest.param(b"", "expected well-formed XML", id="empty"),
        pytest.param(b"\x00\x01\xff", "expected well-formed XML", id="binary"),
        pytest.param(b"<definitions><decision></definitions>", "expected well-formed XML", id="unbalanced"),
        pytest.param(
            b"<definitions " + DMN + b">&nothing;</definitions>", "well-formed", id="unknown entity"
        ),
        pytest.param(b"<decision " + DMN + b"/>", "definitions as root, found {http", id="another root"),
        pytest.param(b"<definitions/>", "as root, found definitions", id="no namespace"),
        pytest.param(b'<definitions xmlns="urn:dmn"/>', "expected DMN 1.1-1.6", id="another namespace"),
        pytest.param(b"<!DOCTYPE definitions><definitions " + DMN + b"/>", "no document type", id="DTD"),
        pytest.param(BILLION_LAUGHS, "no document type", id="billion laughs"),
        pytest.param(EXTERNAL_ENTITY, "no document type", id="external entity"),
        pytest.param(
            "<!DOCTYPE definitions><definitions/>".encode("utf-16"), "no document type", id="DTD in UTF-16"
        ),
        pytest.param(nested(MAX_DEPTH + 1), f"at most {MAX_DEPTH} nested elements", id="a level too deep"),
        pytest.param(nested(10_000), "", id="ten thousand levels"),
        pytest.param(b" " * MAX_BYTES + b"<a/>", f"at most {MAX_BYTES} bytes", id="a byte too large"),
        pytest.param(
            b"<definitions " + DMN + b">" + b"<list/>" * MAX_ELEMENTS + b"</definitions>",
            f"at most {MAX_ELEMENTS} elements",
            id="an element too many",
        ),
        pytest.param(
            b"<definitions " + DMN + b" " + ATTRIBUTES + b"/>",
            f"at most {MAX_ATTRIBUTES} attributes of an element, found 100000",
            id="hundred thousand attributes",
        ),
        pytest.param(
            b"<definitions " + DMN + b"><decision " + ATTRIBUTES + b"/></definitions>",
            f"at most {MAX_ATTRIBUTES} attributes of an element, found 100000",
            id="hundred thousand attributes of a decision",
        ),
        pytest.param(
            b"<definitions " + DMN + b' xmlns:x="' + b"u" * 1_000_000 + b'"/>',
            f"at most {MAX_NAME_LENGTH} characters of a namespace, found 1000000",
            id="a namespace of a megabyte",
        ),
    ],
)
def test_the_reader_refuses_and_says_why(xml: bytes, message: str) -> None:
    with pytest.raises(DmnReadError) as refusal:
        parse(xml)

    assert message in str(refusal.value)


def test_a_refusal_names_the_line() -> None:
    with pytest.raises(DmnReadError, match=r"\(line 3\)$") as refusal:
        parse(b"<definitions>\n<decision>\n</definitions>")

    assert refusal.value.line == 3


def test_the_deepest_document_is_read() -> None:
    assert parse(nested(MAX_DEPTH)).root.children


def test_elements_of_other_namespaces_are_left_out() -> None:
    include = b'<i:include xmlns:i="http://www.w3.org/2001/XInclude" href="file:///etc/hostname"/>'

    document = parse(
        b"<definitions " + DMN + b">" + include + b"<decision>" + include + b"</decision></definitions>"
    )

    assert [each.tag for each in document.root.descendants()] == ["decision"]
