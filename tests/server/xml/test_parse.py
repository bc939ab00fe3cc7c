import pytest

from server.xml import MAX_BYTES, XmlError, parse

BILLION_LAUGHS = (
    b'<!DOCTYPE a [<!ENTITY l0 "lol">'
    + b"".join(b'<!ENTITY l%d "%s">' % (level, b"&l%d;" % (level - 1) * 10) for level in range(1, 10))
    + b']><a b="&l9;">&l9;</a>'
)
PARAMETER_ENTITY = b'<!DOCTYPE a [<!ENTITY % outside SYSTEM "http://127.0.0.1:9/x.dtd"> %outside;]><a/>'


@pytest.mark.parametrize(
    ("xml", "message"),
    [
        pytest.param(b"", "expected well-formed XML", id="empty"),
        pytest.param(b"\x00\x01\x02\xff", "expected well-formed XML", id="binary"),
        pytest.param(b"<a><b></a>", "expected well-formed XML", id="unbalanced"),
        pytest.param(b"<a/><b/>", "expected well-formed XML", id="two roots"),
        pytest.param(b"<a>&nothing;</a>", "expected well-formed XML", id="unknown entity"),
        pytest.param(b"<!DOCTYPE a><a/>", "no document type, found <!DOCTYPE a>", id="DTD"),
        pytest.param(
            b'<!DOCTYPE a SYSTEM "http://127.0.0.1:9/a.dtd"><a/>', "no document type", id="external DTD"
        ),
        pytest.param("<!DOCTYPE a><a/>".encode("utf-16"), "no document type", id="DTD in UTF-16"),
        pytest.param(BILLION_LAUGHS, "no document type", id="billion laughs"),
        pytest.param(
            b'<!DOCTYPE a [<!ENTITY file SYSTEM "file:///etc/hostname">]><a>&file;</a>',
            "no document type",
            id="external entity",
        ),
        pytest.param(PARAMETER_ENTITY, "no document type", id="parameter entity"),
        pytest.param(b"<a/>".ljust(MAX_BYTES + 1), f"at most {MAX_BYTES} bytes", id="a byte too large"),
    ],
)
def test_hostile_bytes_are_refused_with_the_reason(xml: bytes, message: str) -> None:
    with pytest.raises(XmlError) as refusal:
        parse(xml)

    assert message in refusal.value.message


def test_a_refusal_names_the_line_beside_the_message() -> None:
    with pytest.raises(XmlError) as refusal:
        parse(b"<a>\n<b>\n</a>")

    assert refusal.value.line == 3
    assert "line 3" not in refusal.value.message


def test_the_longest_document_is_parsed() -> None:
    assert parse(b"<a/>".ljust(MAX_BYTES)).tag == "a"


def test_a_document_tells_its_root() -> None:
    document = parse(b'<?xml version="1.0"?>\n<!-- first --><o:order xmlns:o="urn:o" xmlns="urn:other"/>')

    assert (document.tag, document.namespace, document.name) == ("{urn:o}order", "urn:o", "order")
    assert document.prefixes == {"o": "urn:o", "": "urn:other"}
    assert document.line == 2
