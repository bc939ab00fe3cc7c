"""A well-formed document, and its markup in the namespaces that the reader knows."""

from collections.abc import Mapping
from typing import Final, TypeAlias

from lxml import etree
from lxml.etree import _Element as XmlElement

from server.xml.bounds import MAX_ATTRIBUTES, MAX_DEPTH, expect_bounded
from server.xml.markup import Markup

Defaults: TypeAlias = Mapping[str, Mapping[str, str]]
_NO_DEFAULTS: Final[Defaults] = {}
_Open: TypeAlias = tuple[str | None, Mapping[str, str], str, int, list[Markup]]
_NO_ATTRIBUTES: Final[Mapping[str, str]] = {}


class Document:
    """A parsed document; `tag` is the root's `{namespace}name`, `prefixes` are the root's declarations."""

    def __init__(self, root: XmlElement) -> None:
        name = etree.QName(root)
        self._root = root
        self.tag = str(root.tag)
        self.namespace = name.namespace or ""
        self.name = name.localname
        self.prefixes = {prefix or "": namespace for prefix, namespace in root.nsmap.items()}
        self.line = int(root.sourceline or 0)

    def markup(self, spelling: Mapping[str, str], defaults: Defaults = _NO_DEFAULTS) -> Markup:
        """Return the root with its content; raises `XmlError` for an element beyond the limits.

        `spelling` maps the root's and other known namespaces to the prefix of their tags. `defaults` are
        optional attributes by tag.
        """
        spelled: dict[str, str | None] = {}
        attributes = _Attributes(defaults)
        plain = attributes.plain
        around: list[_Open] = []
        children: list[Markup] = []
        inner: XmlElement | None = None
        # One loop without function calls for most elements, because a decision table can have a hundred
        # thousand.
        for element in self._root.iter("*"):
            parent = element.getparent()
            while inner is not parent and inner is not None:
                inner, children = inner.getparent(), _closed(around, children)
            name, count = str(element.tag), len(element.attrib)
            if len(around) >= MAX_DEPTH or count > MAX_ATTRIBUTES or name not in spelled:
                expect_bounded(element, len(around) + 1)
                spelled[name] = _spelled(name, spelling)
            tag, text, line = spelled[name], element.text, element.sourceline or 0
            written: Mapping[str, str] = dict(element.items()) if count else _NO_ATTRIBUTES
            if tag in defaults or not plain.issuperset(written):
                written = attributes.checked(element, tag, written)
            text = text.strip() if text else ""
            if len(element):
                around.append((tag, written, text, line, children))
                inner, children = element, []
            elif tag is not None:
                children.append(Markup(tag, written, (), text, line))
        return _outermost(around, children)


class _Attributes:
    """Attributes without a namespace. Each name is checked when it first occurs; `plain` holds the accepted ones."""

    def __init__(self, defaults: Defaults) -> None:
        self.plain: set[str] = set()
        self._defaults = defaults
        self._with_namespace: set[str] = set()

    def checked(self, element: XmlElement, tag: str | None, written: Mapping[str, str]) -> Mapping[str, str]:
        """Return the attributes without a namespace, with the tag's defaults; their number was already checked."""
        new = written.keys() - self.plain - self._with_namespace
        if new:
            expect_bounded(element, 1)
            self._with_namespace.update([name for name in new if name[0] == "{"])
            self.plain.update(new - self._with_namespace)
        defaults = self._defaults.get(tag or "", _NO_ATTRIBUTES)
        return {**defaults, **{name: value for name, value in written.items() if name in self.plain}}


def _outermost(around: list[_Open], children: list[Markup]) -> Markup:
    while around:
        children = _closed(around, children)
    (root,) = children
    return root


def _closed(around: list[_Open], children: list[Markup]) -> list[Markup]:
    """Close the innermost element and add it to its siblings, which are returned; an element without a tag is dropped."""
    tag, attributes, text, line, siblings = around.pop()
    if tag is not None:
        siblings.append(Markup(tag, attributes, tuple(children), text, line))
    return siblings


def _spelled(tag: str, spelling: Mapping[str, str]) -> str | None:
    """Return the tag as in `Markup`, or None for an unknown namespace."""
    namespace, brace, name = tag.rpartition("}")
    prefix = spelling.get(namespace[1:] if brace else "")
    return None if prefix is None else prefix + name
