"""A well-formed document, and the markup of the namespaces that its reader knows."""

from collections.abc import Mapping
from typing import Final, TypeAlias

from lxml import etree
from lxml.etree import _Element as XmlElement

from server.xml.markup import Markup

Defaults: TypeAlias = Mapping[str, Mapping[str, str]]
_NO_DEFAULTS: Final[Defaults] = {}


class Document:
    """Tells the root, whose `tag` is `{namespace}name`; `prefixes` are those that it declares."""

    def __init__(self, root: XmlElement) -> None:
        name = etree.QName(root)
        self._root = root
        self.tag = str(root.tag)
        self.namespace = name.namespace or ""
        self.name = name.localname
        self.prefixes = {prefix or "": namespace for prefix, namespace in root.nsmap.items()}
        self.line = _line(root)

    def markup(self, spelling: Mapping[str, str], defaults: Defaults = _NO_DEFAULTS) -> Markup:
        """The root with everything in it.

        The spelling gives, for the root's namespace and each other that counts, what stands before its local names
        in a tag. Defaults are attributes that a file may leave out, by tag.
        """
        tag = spelling[self.namespace] + self.name
        return _Builder(spelling, defaults).markup(self._root, tag)


class _Builder:
    """Turns the parser's elements into ours."""

    def __init__(self, spelling: Mapping[str, str], defaults: Defaults) -> None:
        self._spelling = spelling
        self._defaults = defaults

    def markup(self, element: XmlElement, tag: str) -> Markup:
        written = {str(name): str(value) for name, value in element.attrib.items() if name[0] != "{"}
        known = ((child, self._known_tag(child)) for child in element)
        return Markup(
            tag,
            {**self._defaults.get(tag, {}), **written},
            tuple(self.markup(child, name) for child, name in known if name),
            (element.text or "").strip(),
            _line(element),
        )

    def _known_tag(self, element: XmlElement) -> str | None:
        """Spell the tag as `Markup` does; None for a namespace that says nothing to the reader."""
        name = etree.QName(element)
        prefix = self._spelling.get(name.namespace or "")
        return None if prefix is None else prefix + name.localname


def _line(element: XmlElement) -> int:
    return int(element.sourceline or 0)
