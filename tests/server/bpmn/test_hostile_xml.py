import pytest

from server.bpmn.reader import BpmnReadError, read
from server.xml import MAX_ATTRIBUTES, MAX_BYTES, MAX_DEPTH, MAX_ELEMENTS, MAX_NAME_LENGTH

BPMN = b'xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"'

BILLION_LAUGHS = (
    b'<!DOCTYPE definitions [<!ENTITY l0 "lol">'
    + b"".join(b'<!ENTITY l%d "%s">' % (level, b"&l%d;" % (level - 1) * 10) for level in range(1, 10))
    + b"]><definitions "
    + BPMN
    + b' id="&l9;">&l9;</definitions>'
)
EXTERNAL_ENTITY = (
    b'<!DOCTYPE definitions [<!ENTITY file SYSTEM "file:///etc/hostname">]>'
    b"<definitions " + BPMN + b">&file;</definitions>"
)
PARAMETER_ENTITY = (
    b'<!DOCTYPE definitions [<!ENTITY % outside SYSTEM "http://127.0.0.1:9/x.dtd"> %outside;]>'
    b"<definitions " + BPMN + b"/>"
)


ATTRIBUTES = b" ".join(b'a%d="1"' % index for index in range(100_000))


def nested(levels: int) -> bytes:
    inside = levels - 1
    return b"<definitions " + BPMN + b">" + b"<process>" * inside + b"</process>" * inside + b"</definitions>"


@pytest.mark.parametrize(
    ("xml", "message"),
    [
        pytest.param(b"", "expected well-formed XML", id="empty"),
        pytest.param(b"   \n", "expected well-formed XML", id="blank"),
        pytest.param(b"order", "expected well-formed XML", id="no XML"),
        pytest.param(b"\x00\x01\x02\xff", "expected well-formed XML", id="binary"),
        pytest.param(b'{"process": "order"}', "expected well-formed XML", id="JSON"),
        pytest.param(b"<definitions><process></definitions>", "expected well-formed XML", id="unbalanced"),
        pytest.param(
            b"<definitions " + BPMN + b">&nothing;</definitions>", "well-formed", id="unknown entity"
        ),
        pytest.param(
            b"<process " + BPMN + b"/>", "definitions as root, found {http", id="root of another kind"
        ),
        pytest.param(b"<definitions/>", "as root, found definitions", id="root without namespace"),
        pytest.param(b"<html><body/></html>", "as root, found html", id="another language"),
        pytest.param(b"<!DOCTYPE definitions><definitions " + BPMN + b"/>", "no document type", id="DTD"),
        pytest.param(BILLION_LAUGHS, "no document type", id="billion laughs"),
        pytest.param(EXTERNAL_ENTITY, "no document type", id="external entity"),
        pytest.param(PARAMETER_ENTITY, "no document type", id="parameter entity"),
        pytest.param(
            "<!DOCTYPE definitions><definitions/>".encode("utf-16"), "no document type", id="DTD in UTF-16"
        ),
        pytest.param(nested(10_000), "", id="ten thousand levels"),
        pytest.param(nested(MAX_DEPTH + 1), f"at most {MAX_DEPTH} nested elements", id="a level too deep"),
        pytest.param(b" " * MAX_BYTES + b"<a/>", f"at most {MAX_BYTES} bytes", id="a byte too large"),
        pytest.param(
            b"<definitions " + BPMN + b">" + b"<a/>" * MAX_ELEMENTS + b"</definitions>",
            f"at most {MAX_ELEMENTS} elements",
            id="an element too many",
        ),
        pytest.param(
            b"<definitions " + BPMN + b" " + ATTRIBUTES + b"/>",
            f"at most {MAX_ATTRIBUTES} attributes of an element, found 100000",
            id="hundred thousand attributes",
        ),
        pytest.param(
            b"<definitions " + BPMN + b"><process " + ATTRIBUTES + b"/></definitions>",
            f"at most {MAX_ATTRIBUTES} attributes of an element, found 100000",
            id="hundred thousand attributes of a process",
        ),
        pytest.param(
            b"<definitions " + BPMN + b' xmlns:x="' + b"u" * 1_000_000 + b'"/>',
            f"at most {MAX_NAME_LENGTH} characters of a namespace, found 1000000",
            id="a namespace of a megabyte",
        ),
        pytest.param(
            b'<?xml version="1.0" encoding="klingon"?><a/>', "Unsupported encoding", id="unknown encoding"
        ),
        pytest.param(
            "<definitions name='ä'/>".encode("iso-8859-1"),
            "expected well-formed XML",
            id="undeclared latin-1",
        ),
        pytest.param(
            b'<?xml version="1.0" encoding="UTF-16"?><a/>', "expected well-formed XML", id="wrong declaration"
        ),
        pytest.param("<definitions/>".encode("utf-16")[:-3], "expected well-formed XML", id="cut UTF-16"),
    ],
)
def test_the_reader_refuses_and_says_why(xml: bytes, message: str) -> None:
    with pytest.raises(BpmnReadError) as refusal:
        read(xml)

    assert message in str(refusal.value)


def test_a_refusal_names_the_line() -> None:
    with pytest.raises(BpmnReadError, match=r"\(line 3\)$") as refusal:
        read(b"<definitions>\n<process>\n</definitions>")

    assert refusal.value.line == 3


def test_the_deepest_and_the_longest_document_are_read() -> None:
    assert read(nested(MAX_DEPTH)).processes
    assert read(nested(2).ljust(MAX_BYTES)).processes


def test_an_xinclude_stays_a_foreign_element() -> None:
    include = (
        b'<i:include xmlns:i="http://www.w3.org/2001/XInclude" href="file:///etc/hostname" parse="text"/>'
    )
    xml = (
        b"<definitions " + BPMN + b">" + include + b"<process id='p'>" + include + b"</process></definitions>"
    )

    definitions = read(xml)

    assert definitions.processes[0].elements == ()
    assert definitions.processes[0].markup.text == ""
