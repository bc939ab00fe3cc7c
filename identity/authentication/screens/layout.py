"""Parser of screen layouts in the template language.

The language is XML without document type, own entities, instructions, comments or sections, so `<!` and `<?` do not
occur.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from lxml import etree
from lxml.etree import _Element as XmlElement

from identity.authentication.screens.errors import LayoutRefused
from identity.authentication.screens.layout_elements import ELEMENTS, ROOT, SLOT, Content, ElementKind
from identity.authentication.screens.plain_text import is_plain

MAX_DEPTH: Final = 16

_DECLARATION = re.compile(r"<[!?]")
_START_TAG = re.compile(r"<(?!/)")
_SPACES = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class LayoutElement:
    """An element with all of its attributes; `text` is shown to users and is no markup."""

    name: str
    attributes: Mapping[str, str]
    text: str
    children: "tuple[LayoutElement, ...]"

    def descendants(self) -> "Iterator[LayoutElement]":
        """Yield this element and all its descendants, in the order of the layout."""
        yield self
        for child in self.children:
            yield from child.descendants()


def read_layout(template: str) -> LayoutElement:
    """Raises LayoutRefused."""
    declaration = _DECLARATION.search(template)
    if declaration is not None:
        raise _refused(f"unexpected {declaration[0]}", template, declaration.start())
    # Attributes and texts contain no bare `<`, so start tags appear in the order of the elements.
    starts = (match.start() for match in _START_TAG.finditer(template))
    root = _LayoutWalk(template, starts).element(_parsed(template), depth=1)
    slots = sum(element.name == SLOT for element in root.descendants())
    if root.name != ROOT or slots != 1:
        what = f"expected {ROOT} around everything" if root.name != ROOT else f"expected one {SLOT}"
        raise _refused(what, template, 0)
    return root


class _LayoutWalk:
    """Walks the elements in order, and knows the position of each start tag."""

    def __init__(self, template: str, starts: Iterator[int]) -> None:
        self._template = template
        self._starts = starts
        self._counts: Counter[str] = Counter()

    def element(self, xml: XmlElement, *, depth: int) -> LayoutElement:
        start = next(self._starts)
        name = str(xml.tag)
        kind = ELEMENTS.get(name)
        if xml.nsmap:
            raise self._refused("expected no namespaces", start)
        if kind is None:
            raise self._refused(f"there is no element {name}", start)
        self._counts[name] += 1
        if depth > MAX_DEPTH:
            raise self._refused(f"expected elements at most {MAX_DEPTH} deep", start)
        if kind.most is not None and self._counts[name] > kind.most:
            raise self._refused(f"expected one {name}", start)
        attributes = self._attributes(xml, name, kind, start=start)
        text = self._text(xml, name, kind, start=start)
        children = tuple(self.element(child, depth=depth + 1) for child in xml)
        if kind.count is not None and len(children) != kind.count:
            raise self._refused(f"expected {kind.count} elements in {name}", start)
        return LayoutElement(name, attributes, text, children)

    def _attributes(self, xml: XmlElement, name: str, kind: ElementKind, *, start: int) -> Mapping[str, str]:
        given = {str(attribute): str(value) for attribute, value in xml.attrib.items()}
        for attribute, value in given.items():
            if attribute not in kind.attributes:
                raise self._refused(f"{name} has no attribute {attribute}", start)
            if value not in kind.attributes[attribute]:
                expected = " or ".join(kind.attributes[attribute])
                raise self._refused(f"{attribute}: expected {expected}", start)
        return {attribute: given.get(attribute, values[0]) for attribute, values in kind.attributes.items()}

    def _text(self, xml: XmlElement, name: str, kind: ElementKind, *, start: int) -> str:
        if len(xml) and kind.content is not Content.ELEMENTS:
            raise self._refused(f"expected no elements in {name}", start)
        text = (xml.text or "") + "".join(child.tail or "" for child in xml)
        if kind.content is Content.TEXT:
            if not is_plain(text):
                raise self._refused("expected text without control characters", start)
            return _SPACES.sub(" ", text).strip()
        if text.strip():
            raise self._refused(f"expected no text in {name}", start)
        return ""

    def _refused(self, what: str, start: int) -> LayoutRefused:
        return _refused(what, self._template, start)


def _parsed(template: str) -> XmlElement:
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    try:
        return etree.fromstring(template.encode(), parser)
    except etree.XMLSyntaxError as error:
        line, column = error.position
        what = error.msg.removesuffix(f", line {line}, column {column}")
        raise LayoutRefused(what, line or 1, column or 1) from error


def _refused(what: str, template: str, start: int) -> LayoutRefused:
    line = template.count("\n", 0, start) + 1
    return LayoutRefused(what, line, start - template.rfind("\n", 0, start))
