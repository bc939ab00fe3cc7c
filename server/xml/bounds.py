"""Limits of a document, each checked while the document is parsed.

lxml expands the namespace in each name that it returns, and scans all attributes of an element to find one.
Each number is therefore checked before the names and attributes that it limits are read.
"""

from typing import Final

from lxml.etree import _Element as XmlElement

from server.xml.errors import XmlError

MAX_DEPTH: Final = 64
"""Deepest nesting of elements."""

MAX_ELEMENTS: Final = 300_000
"""Most elements of a document, including those of unknown namespaces."""

MAX_ATTRIBUTES: Final = 128
"""Most attributes of one element."""

MAX_NAMESPACES: Final = 64
"""Most namespaces that one element declares."""

MAX_ALL_ATTRIBUTES: Final = 500_000
"""Most attributes and namespace declarations of a document."""

MAX_NAME_LENGTH: Final = 1_000
"""Longest name of an element or attribute, prefix, or namespace."""

MAX_VALUE_LENGTH: Final = 1024 * 1024
"""Longest value of an attribute, which may be a script or an icon."""

MAX_COMMENTS: Final = 10_000

MAX_INSTRUCTIONS: Final = 1_000
"""Most processing instructions of a document."""


class ElementBounds:
    """Counts the elements of one document in document order; each method raises `XmlError`."""

    def __init__(self) -> None:
        self._depth = 0
        self._elements = 0
        self._attributes = 0
        self._declared: list[tuple[str, str]] = []

    def declare(self, prefix: str, namespace: str) -> None:
        """Count a namespace declaration of the next element."""
        self._declared.append((prefix, namespace))

    def start(self, element: XmlElement) -> None:
        self._depth += 1
        self._elements += 1
        _expect_at_most(MAX_ELEMENTS, "elements", self._elements, element)
        self._expect_few_namespaces(element)
        self._attributes += len(element.attrib)
        _expect_at_most(MAX_ALL_ATTRIBUTES, "attributes of all elements", self._attributes, element)
        expect_bounded(element, self._depth)

    def end(self) -> None:
        self._depth -= 1

    def _expect_few_namespaces(self, element: XmlElement) -> None:
        if not self._declared:
            return
        declared, self._declared = self._declared, []
        self._attributes += len(declared)
        _expect_at_most(MAX_NAMESPACES, "namespaces of an element", len(declared), element)
        for prefix, namespace in declared:
            _expect_at_most(MAX_NAME_LENGTH, "characters of a prefix", len(prefix), element)
            _expect_at_most(MAX_NAME_LENGTH, "characters of a namespace", len(namespace), element)


def expect_bounded(element: XmlElement, depth: int) -> None:
    """Raise `XmlError` for an element that exceeds a limit by itself; `depth` is 1 for the root."""
    count = len(element.attrib)
    _expect_at_most(MAX_DEPTH, "nested elements", depth, element)
    _expect_at_most(MAX_ATTRIBUTES, "attributes of an element", count, element)
    _expect_short_name(str(element.tag), element)
    for name, value in element.attrib.items():
        _expect_short_name(str(name), element)
        _expect_at_most(MAX_VALUE_LENGTH, "characters of an attribute", len(value), element)


class OtherBounds:
    """A parser target for everything except elements; it builds nothing."""

    def __init__(self) -> None:
        self._comments = 0
        self._instructions = 0

    def doctype(self, name: str | None, _public_id: str | None, _system_url: str | None) -> None:
        raise XmlError(f"expected no document type, found <!DOCTYPE {name}>")

    def comment(self, _text: str) -> None:
        self._comments += 1
        _expect_at_most(MAX_COMMENTS, "comments", self._comments)

    def pi(self, _target: str, _text: str | None) -> None:
        self._instructions += 1
        _expect_at_most(MAX_INSTRUCTIONS, "processing instructions", self._instructions)

    def close(self) -> None:
        """Return nothing, because nothing was built."""


def _expect_short_name(name: str, element: XmlElement) -> None:
    length = len(name) - name.rfind("}") - 1
    _expect_at_most(MAX_NAME_LENGTH, "characters of a name", length, element)


def _expect_at_most(bound: int, what: str, found: int, element: XmlElement | None = None) -> None:
    if found > bound:
        line = int(element.sourceline or 0) if element is not None else 0
        raise XmlError(f"expected at most {bound} {what}, found {found}", line)
