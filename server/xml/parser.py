"""From bytes to a document without a document type, within bounds."""

from io import BytesIO
from typing import Final, cast

from lxml import etree
from lxml.etree import _Element as XmlElement

from server.xml.bounds import ElementBounds, OtherBounds
from server.xml.document import Document
from server.xml.errors import XmlError

MAX_BYTES: Final = 4 * 1024 * 1024


def parse(xml: bytes) -> Document:
    """Parse one file; raises `XmlError`."""
    if len(xml) > MAX_BYTES:
        raise XmlError(f"expected at most {MAX_BYTES} bytes, found {len(xml)}")
    try:
        _check_all_but_elements(xml)
        return Document(_root(xml))
    except etree.XMLSyntaxError as error:
        line, column = error.position
        what = error.msg.removesuffix(f", line {line}, column {column}")
        raise XmlError(f"expected well-formed XML, found: {what}", line or 0) from error


def _check_all_but_elements(xml: bytes) -> None:
    # lxml looks the callbacks up when it runs; its stubs ask for all of them. With `start` among them it would make
    # the names of all attributes of an element before it calls.
    parser = etree.XMLParser(target=OtherBounds(), resolve_entities=False, no_network=True)  # type: ignore[call-overload]
    etree.fromstring(xml, parser)


def _root(xml: bytes) -> XmlElement:
    bounds = ElementBounds()
    parsing = etree.iterparse(
        BytesIO(xml),
        events=("start-ns", "start", "end"),
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        remove_comments=True,
        remove_pis=True,
    )
    for event, found in parsing:
        if event == "end":
            bounds.end()
        elif isinstance(found, tuple):
            bounds.declare(*found)
        elif found is not None:
            bounds.start(found)
    return cast("XmlElement", parsing.root)  # a file without an element is no XML
