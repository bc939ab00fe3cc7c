"""Parses bytes into a document without a document type and within limits."""

import re
from io import BytesIO
from typing import Final, cast

from lxml import etree
from lxml.etree import _Element as XmlElement

from server.xml.bounds import (
    MAX_ALL_ATTRIBUTES,
    MAX_COMMENTS,
    MAX_ELEMENTS,
    MAX_INSTRUCTIONS,
    MAX_NAME_LENGTH,
    MAX_NAMESPACES,
    MAX_VALUE_LENGTH,
    ElementBounds,
    OtherBounds,
)
from server.xml.document import Document
from server.xml.errors import XmlError

MAX_BYTES: Final = 4 * 1024 * 1024

_ENCODING = re.compile(rb"""encoding\s*=\s*["']([^"']*)["']""")
_DECLARATION = re.compile(rb"(?:\xef\xbb\xbf)?<\?xml\s[^?>]*\?>")
_ASCII_FIRST: Final = frozenset({b"ascii", b"iso-8859-1", b"us-ascii", b"utf-8"})
"""Encodings in which the bytes of markup characters have no other meaning."""
_NAMESPACE = re.compile(rb"""xmlns(?::([^\s=<>"']*))?\s*=\s*(?:"([^"]*)"|'([^']*)')""")


def parse(xml: bytes) -> Document:
    """Parse one file; raises `XmlError`. The document's `markup` raises it too for elements beyond a limit."""
    if len(xml) > MAX_BYTES:
        raise XmlError(f"expected at most {MAX_BYTES} bytes, found {len(xml)}")
    try:
        return Document(_plain_root(xml) if _is_plain(xml) else _bounded_root(xml))
    except etree.XMLSyntaxError as error:
        line, column = error.position
        what = error.msg.removesuffix(f", line {line}, column {column}")
        raise XmlError(f"expected well-formed XML, found: {what}", line or 0) from error


def _plain_root(xml: bytes) -> XmlElement:
    """Parse at once; on an error, parse again with limits, because a limit may be exceeded before the error."""
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True, remove_pis=True
    )
    try:
        return etree.fromstring(xml, parser)
    except etree.XMLSyntaxError:
        return _bounded_root(xml)


def _is_plain(xml: bytes) -> bool:
    """Whether the bytes alone prove that the document is within all limits that concern more than one element.

    This takes a fraction of the parsing time, and nearly all files pass: each part of a document begins with
    its own characters, so counting these gives an upper bound.
    """
    declaration = _DECLARATION.match(xml)
    encoding = None if declaration is None else _ENCODING.search(declaration[0])
    if b"\0" in xml or (encoding is not None and encoding[1].lower() not in _ASCII_FIRST):
        return False
    if b"<!DOCTYPE" in xml or xml.count(b"<!--") > MAX_COMMENTS or xml.count(b"<?") > MAX_INSTRUCTIONS:
        return False
    if xml.count(b"<") - xml.count(b"</") > MAX_ELEMENTS or xml.count(b"=") > MAX_ALL_ATTRIBUTES:
        return False
    if len(xml) > MAX_VALUE_LENGTH and max(map(len, xml.split(b"<"))) > MAX_VALUE_LENGTH:
        return False
    declared = xml.count(b"xmlns")
    names = (
        [name for match in _NAMESPACE.findall(xml) for name in match] if declared <= MAX_NAMESPACES else []
    )
    return 3 * declared == len(names) and all(len(name) <= MAX_NAME_LENGTH for name in names)


def _check_all_but_elements(xml: bytes) -> None:
    # lxml looks the callbacks up at runtime, but its stubs require all of them. With `start` among them it
    # would create the names of all attributes of an element before the call.
    parser = etree.XMLParser(target=OtherBounds(), resolve_entities=False, no_network=True)  # type: ignore[call-overload]
    etree.fromstring(xml, parser)


def _bounded_root(xml: bytes) -> XmlElement:
    """Parse element by element, so that a file beyond a limit is refused before the rest is read."""
    _check_all_but_elements(xml)
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
    return cast("XmlElement", parsing.root)  # a file without an element is not XML
