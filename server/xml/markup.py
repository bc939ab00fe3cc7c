"""Elements as a file has them: the one truth below every typed model."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Markup:
    """An element with its unprefixed attributes, stripped text, child elements and source line.

    The tag is spelled as the reader of the file wants the namespace spelled, whatever prefix the file uses.
    """

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
