"""Elements as in the file, which every typed model is based on."""

from collections.abc import Iterator, Mapping

import msgspec


class Markup(msgspec.Struct, frozen=True, gc=False):
    """An element with its unprefixed attributes, stripped text, child elements and source line.

    The tag uses the reader's spelling of the namespace, whatever prefix the file uses. Documents have many
    elements without reference cycles, so they are exempt from garbage collection.
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
        """Yield all descendants in document order."""
        waiting = [*reversed(self.children)]
        while waiting:
            element = waiting.pop()
            yield element
            if element.children:
                waiting.extend(reversed(element.children))
