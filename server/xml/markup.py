"""Elements as a file has them: the one truth below every typed model."""

from collections.abc import Iterator, Mapping

import msgspec


class Markup(msgspec.Struct, frozen=True, gc=False):
    """An element with its unprefixed attributes, stripped text, child elements and source line.

    The tag is spelled as the reader of the file wants the namespace spelled, whatever prefix the file uses. A document
    has many of them and none refers to itself, so the garbage collector is spared.
    """

    tag: str
    attributes: Mapping[str, str] = msgspec.field(default_factory=dict)
    children: tuple["Markup", ...] = ()
    text: str = ""
    line: int = 0

    def all(self, tag: str) -> tuple["Markup", ...]:
        return tuple([child for child in self.children if child.tag == tag])

    def first(self, tag: str) -> "Markup | None":
        for child in self.children:
            if child.tag == tag:
                return child
        return None

    def descendants(self) -> Iterator["Markup"]:
        """Every element below this one, in the order of the document."""
        waiting = [*reversed(self.children)]
        while waiting:
            element = waiting.pop()
            yield element
            if element.children:
                waiting.extend(reversed(element.children))
