"""The template language: one row for each element, with its content and attribute values.

Other elements, other attributes and addresses do not exist. The first value of each attribute is the default.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto


class Content(Enum):
    """Permitted content of an element."""

    ELEMENTS = auto()
    TEXT = auto()
    NOTHING = auto()


@dataclass(frozen=True, slots=True)
class ElementKind:
    """`count` is the exact number of children, if fixed; `most` is the maximum number in a layout."""

    content: Content
    attributes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    count: int | None = None
    most: int | None = None


ROOT = "screen"
SLOT = "auth-content"
LOGO = "client-logo"

ELEMENTS: Mapping[str, ElementKind] = {
    ROOT: ElementKind(Content.ELEMENTS, most=1),
    "columns": ElementKind(Content.ELEMENTS, {"ratio": ("equal", "wide-left", "wide-right")}, count=2),
    "stack": ElementKind(Content.ELEMENTS, {"gap": ("medium", "small", "large")}),
    "panel": ElementKind(
        Content.ELEMENTS, {"tone": ("plain", "raised", "accent"), "align": ("left", "center")}
    ),
    "eyebrow": ElementKind(Content.TEXT),
    "heading": ElementKind(Content.TEXT, {"size": ("medium", "small", "large")}),
    "text": ElementKind(Content.TEXT, {"tone": ("normal", "muted")}),
    "divider": ElementKind(Content.NOTHING),
    LOGO: ElementKind(Content.NOTHING, most=1),
    SLOT: ElementKind(Content.NOTHING, most=1),
}
