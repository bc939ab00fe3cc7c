"""XML as plain elements, read from bytes that are hostile until they are read.

A document type (and with it every entity) is refused before the first element, nothing is fetched, size,
depth and number of elements are bounded. Only elements of the document's own DMN namespace are kept.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Never

from lxml import etree
from lxml.etree import _Element as XmlElement

from server.dmn.errors import DmnReadError

MAX_BYTES: Final = 4 * 1024 * 1024
MAX_DEPTH: Final = 64
MAX_ELEMENTS: Final = 300_000

NAMESPACES: Final[Mapping[str, str]] = {
    "http://www.omg.org/spec/DMN/20151101/dmn.xsd": "1.1",
    "http://www.omg.org/spec/DMN/20180521/MODEL/": "1.2",
    "https://www.omg.org/spec/DMN/20191111/MODEL/": "1.3",
    "https://www.omg.org/spec/DMN/20211108/MODEL/": "1.4",
    "https://www.omg.org/spec/DMN/20230324/MODEL/": "1.5",
}


@dataclass(frozen=True, slots=True)
class Markup:
    """An element by its local name, with its unprefixed attributes, stripped text and source line."""

    tag: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    children: tuple["Markup", ...] = ()
    text: str = ""
    line: int = 0

    def all(self, tag: str) -> tuple["Markup", ...]:
        return tuple(child for child in self.children if child.tag == tag)

    def first(self, tag: str) -> "Markup | None":
        return next((child for child in self.children if child.tag == tag), None)

    def descendants(self) -> Iterator["Markup"]:
        """Every element below this one, in the order of the document."""
        for child in self.children:
            yield child
            yield from child.descendants()


@dataclass(frozen=True, slots=True)
class Document:
    """The root element; `version` is DMN's, `prefixes` are those that the root declares."""

    root: Markup
    version: str
    prefixes: Mapping[str, str]


def parse(xml: bytes) -> Document:
    """Parse one file; raises `DmnReadError`."""
    if len(xml) > MAX_BYTES:
        raise DmnReadError(f"expected at most {MAX_BYTES} bytes, found {len(xml)}")
    _refuse_document_type(xml)
    root = _parse(xml)
    name = etree.QName(root)
    version = NAMESPACES.get(name.namespace or "")
    if version is None or name.localname != "definitions":
        raise DmnReadError(f"expected DMN 1.1-1.5 definitions as root, found {root.tag!s}", _line(root))
    prefixes = {prefix or "": namespace for prefix, namespace in root.nsmap.items()}
    return Document(_Builder(name.namespace or "").markup(root, depth=1), version, prefixes)


class _ElementReached(Exception):
    pass


class _Prolog:
    """A parser target that looks at what stands before the first element."""

    def doctype(self, name: str | None, _public_id: str | None, _system_url: str | None) -> Never:
        raise DmnReadError(f"expected no document type, found <!DOCTYPE {name}>")

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
    except etree.XMLSyntaxError as error:
        raise _not_xml(error) from error


def _parse(xml: bytes) -> XmlElement:
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True, remove_pis=True
    )
    try:
        return etree.fromstring(xml, parser)
    except etree.XMLSyntaxError as error:
        raise _not_xml(error) from error


def _not_xml(error: etree.XMLSyntaxError) -> DmnReadError:
    line, column = error.position
    what = error.msg.removesuffix(f", line {line}, column {column}")
    return DmnReadError(f"expected well-formed XML, found: {what}", line or 0)


class _Builder:
    """Turns the parser's elements into ours and counts them."""

    def __init__(self, namespace: str) -> None:
        self._prefix = f"{{{namespace}}}"
        self._count = 0

    def markup(self, element: XmlElement, *, depth: int) -> Markup:
        if depth > MAX_DEPTH:
            raise DmnReadError(f"expected at most {MAX_DEPTH} nested elements, found more", _line(element))
        self._count += 1
        if self._count > MAX_ELEMENTS:
            raise DmnReadError(f"expected at most {MAX_ELEMENTS} elements, found more", _line(element))
        return Markup(
            str(element.tag).removeprefix(self._prefix),
            {str(name): str(value) for name, value in element.attrib.items() if name[0] != "{"},
            tuple(self.markup(child, depth=depth + 1) for child in element if self._is_dmn(child)),
            (element.text or "").strip(),
            _line(element),
        )

    def _is_dmn(self, element: XmlElement) -> bool:
        return str(element.tag).startswith(self._prefix)


def _line(element: XmlElement) -> int:
    return int(element.sourceline or 0)
