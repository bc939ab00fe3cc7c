"""Appearance of a page: the default theme, or a client's screen.

The services have validated the parts of a client's screen. Text that would be markup is dropped here once more.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import quote

from markupsafe import Markup

from gnomon.identity.v1.screen_pb2 import LayoutElement, Screen

_COLOR = re.compile(r"#[0-9A-Fa-f]{6}")
_TAGS: Final = {
    "columns": "div",
    "stack": "div",
    "panel": "div",
    "eyebrow": "p",
    "heading": "h2",
    "text": "p",
    "divider": "hr",
    "client-logo": "img",
    "auth-content": "div",
}


@dataclass(frozen=True, slots=True)
class Element:
    """An element of a layout: `classes` are its name and `<attribute>-<value>` for each attribute."""

    name: str
    tag: str
    classes: str
    text: str
    children: "tuple[Element, ...]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """`layout` are the elements of a custom layout, None for the preset one; `logo` is empty without a logo.

    An empty `theme` means the theme of the user's system.
    """

    theme: str = ""
    composition: str = "centered"
    style: Markup = field(default_factory=Markup)
    heading: str = ""
    description: str = ""
    logo: str = ""
    layout: tuple[Element, ...] | None = None
    has_heading: bool = False
    is_preview: bool = False

    @property
    def is_custom(self) -> bool:
        return self.layout is not None


DEFAULT: Final = Look()


def look_of(screen: Screen, path: str, *, is_preview: bool = False) -> Look:
    """Return the appearance; `path` is the path of the tenant's issuer, without a final slash."""
    has_layout = screen.HasField("layout")
    tags = _heading_tags()
    return Look(
        theme=screen.theme,
        composition=screen.composition,
        style=_style(screen),
        heading=screen.heading,
        description=screen.description,
        logo=logo_address(screen.client_id, screen.client_logo_id, path) if screen.client_logo_id else "",
        layout=tuple(_element(child, tags) for child in screen.layout.children) if has_layout else None,
        has_heading=has_layout and _has_heading(screen.layout),
        is_preview=is_preview,
    )


def _style(screen: Screen) -> Markup:
    accent, text = screen.accent_color, screen.text_on_accent
    if not (_COLOR.fullmatch(accent) and _COLOR.fullmatch(text)):
        return Markup()
    css = "" if "<" in screen.css else screen.css
    # A client's color may be hard to read on the page's background, so links keep the page's own color.
    variables = f":root[data-theme]{{--accent:{accent};--on-accent:{text};--link:var(--ink)}}"
    return Markup(variables + css)  # noqa: S704  # no `<` in it, and a style element ends with nothing else


def logo_address(client_id: str, logo_id: str, path: str) -> str:
    """Return the address of a client's logo, which changes with the logo."""
    return f"{path}/clients/{quote(client_id, safe='')}/logo?updated={logo_id}"


def _element(element: LayoutElement, heading_tags: Iterator[str]) -> Element:
    values = (f"{name}-{value}" for name, value in sorted(element.attributes.items()))
    return Element(
        name=element.name,
        tag=next(heading_tags) if element.name == "heading" else _TAGS[element.name],
        classes=" ".join((element.name, *values)),
        text=element.text,
        children=tuple(_element(child, heading_tags) for child in element.children),
    )


def _heading_tags() -> Iterator[str]:
    """Yield `h1` for the first heading, and `h2` for all others."""
    yield "h1"
    while True:
        yield "h2"


def _has_heading(element: LayoutElement) -> bool:
    return element.name == "heading" or any(map(_has_heading, element.children))
