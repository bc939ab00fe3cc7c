"""From bytes to a document without a document type."""

from collections.abc import Mapping
from typing import Final, Never

from lxml import etree
from lxml.etree import _Element as XmlElement

from server.xml.document import Document
from server.xml.errors import XmlError

MAX_BYTES: Final = 4 * 1024 * 1024


def parse(xml: bytes) -> Document:
    """Parse one file; raises `XmlError`."""
    if len(xml) > MAX_BYTES:
        raise XmlError(f"expected at most {MAX_BYTES} bytes, found {len(xml)}")
    try:
        _refuse_document_type(xml)
        return Document(_root(xml))
    except etree.XMLSyntaxError as error:
        line, column = error.position
        what = error.msg.removesuffix(f", line {line}, column {column}")
        raise XmlError(f"expected well-formed XML, found: {what}", line or 0) from error


class _ElementReached(Exception):
    pass


class _Prolog:
    """A parser target that looks at what stands before the first element."""

    def doctype(self, name: str | None, _public_id: str | None, _system_url: str | None) -> Never:
        raise XmlError(f"expected no document type, found <!DOCTYPE {name}>")

    def start(self, _tag: str, _attributes: Mapping[str, str]) -> Never:
        raise _ElementReached

    def close(self) -> None:
        """Nothing was built."""


def _refuse_document_type(xml: bytes) -> None:
    # lxml looks the callbacks up when it runs; its stubs ask for all of them.
    parser = etree.XMLParser(target=_Prolog(), resolve_entities=False, no_network=True)  # type: ignore[call-overload]
    try:
        etree.fromstring(xml, parser)
    except _ElementReached:
        return


def _root(xml: bytes) -> XmlElement:
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True, remove_pis=True
    )
    return etree.fromstring(xml, parser)
