"""Reads XML documents of other parties without document type, entities, comments and processing instructions.

A comment inside a text is not signed, and splits the text for some readers, so a document with one is refused. All
bounds are checked before an element of the document is read.
"""

from collections.abc import Mapping
from typing import Final, TypeAlias

from lxml import etree

XmlElement: TypeAlias = etree._Element  # noqa: SLF001  # the stubs' only name of an element
LibraryError: TypeAlias = etree.LxmlError

MAX_BYTES: Final = 262_144
MAX_DEPTH: Final = 32
"""Levels of nested elements."""

MAX_ELEMENTS: Final = 5_000
MAX_ATTRIBUTES: Final = 64
"""Attributes and namespace declarations of one element."""


class MalformedXml(Exception):
    """The document is not well-formed, exceeds a bound, or has a part that is not accepted."""


def parse(octets: bytes) -> XmlElement:
    """Return the root element; raises MalformedXml."""
    if len(octets) > MAX_BYTES:
        raise MalformedXml(f"expected at most {MAX_BYTES} bytes")
    try:
        etree.fromstring(octets, _bounded_parser())
        return etree.fromstring(octets, _parser())
    except (etree.XMLSyntaxError, ValueError) as error:
        raise MalformedXml("expected well-formed XML") from error


def new_element(
    tag: str,
    attributes: Mapping[str, str],
    namespaces: Mapping[str, str],
    *,
    parent: XmlElement | None = None,
) -> XmlElement:
    """Return an element, which is the last child of `parent` if there is one; `namespaces` are by prefix."""
    if parent is None:
        return etree.Element(tag, dict(attributes), nsmap=dict(namespaces))
    return etree.SubElement(parent, tag, dict(attributes), nsmap=dict(namespaces))


def serialized(element: XmlElement) -> bytes:
    """Return the element alone, with the namespaces declared on elements around it."""
    return etree.tostring(element, with_tail=False)


def text_of(element: XmlElement) -> str:
    """Return the whole text of an element without children; raises MalformedXml."""
    if len(element):
        raise MalformedXml("expected text, found elements")
    return (element.text or "").strip()


def _parser() -> etree.XMLParser:
    return etree.XMLParser(
        resolve_entities=False, load_dtd=False, no_network=True, huge_tree=False, remove_blank_text=False
    )


def _bounded_parser() -> etree.XMLParser:
    # lxml looks up the methods of a target at run time; its stubs require all of them.
    return etree.XMLParser(  # type: ignore[call-overload,no-any-return]
        target=_Bounds(), resolve_entities=False, load_dtd=False, no_network=True, huge_tree=False
    )


class _Bounds:
    """Parser target that only counts."""

    def __init__(self) -> None:
        self._depth = 0
        self._elements = 0

    def start(self, _tag: str, attributes: dict[str, str], namespaces: dict[str, str]) -> None:
        self._depth += 1
        self._elements += 1
        if self._depth > MAX_DEPTH:
            raise MalformedXml(f"expected at most {MAX_DEPTH} nested elements")
        if self._elements > MAX_ELEMENTS:
            raise MalformedXml(f"expected at most {MAX_ELEMENTS} elements")
        if len(attributes) + len(namespaces) > MAX_ATTRIBUTES:
            raise MalformedXml(f"expected at most {MAX_ATTRIBUTES} attributes of an element")

    def end(self, _tag: str) -> None:
        self._depth -= 1

    def doctype(self, _name: str | None, _public_id: str | None, _system_url: str | None) -> None:
        raise MalformedXml("expected no document type")

    def comment(self, _text: str) -> None:
        raise MalformedXml("expected no comment")

    def pi(self, _target: str, _text: str | None) -> None:
        raise MalformedXml("expected no processing instruction")

    def close(self) -> None:
        """There is nothing to return."""
