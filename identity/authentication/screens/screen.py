"""One screen of a client, as pages show it."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from identity.authentication.screens.layout import LayoutElement, read_layout
from identity.authentication.screens.settings import Composition, ScreenSettings, Theme, inherited_css

BLACK: Final = "#000000"
WHITE: Final = "#ffffff"

# WCAG 2.2, relative luminance and contrast ratio.
_WEIGHTS = (0.2126, 0.7152, 0.0722)
_LINEAR_UP_TO = 0.04045
_FLARE = 0.05


class ScreenKind(StrEnum):
    LOGIN = "login"
    LOGOUT = "logout"


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    """`layout` is None for the preset one; `text_on_accent` is the color of text on the accent color."""

    theme: Theme
    composition: Composition
    accent_color: str
    text_on_accent: str
    heading: str
    description: str
    shows_client_logo: bool
    layout: LayoutElement | None
    css: str


def sign_in_screen(settings: ScreenSettings) -> Screen:
    return Screen(
        theme=settings.theme,
        composition=settings.composition,
        accent_color=settings.accent_color,
        text_on_accent=text_on(settings.accent_color),
        heading=settings.login_heading,
        description=settings.login_description,
        shows_client_logo=settings.show_client_logo,
        layout=_layout(settings.login_template),
        css=settings.custom_css or "",
    )


def sign_out_screen(settings: ScreenSettings, logout_css: str | None = None) -> Screen:
    """`logout_css` is the screen's stylesheet if it is known already."""
    accent = settings.accent_color if settings.logout_accent_color is None else settings.logout_accent_color
    shows_logo = settings.logout_show_client_logo
    return Screen(
        theme=settings.logout_theme or settings.theme,
        composition=settings.logout_composition or settings.composition,
        accent_color=accent,
        text_on_accent=text_on(accent),
        heading=settings.logout_heading,
        description=settings.logout_description,
        shows_client_logo=settings.show_client_logo if shows_logo is None else shows_logo,
        layout=_layout(settings.logout_template),
        css=_sign_out_css(settings) if logout_css is None else logout_css,
    )


def text_on(color: str) -> str:
    """Return black or white, whichever has the higher contrast to the color, which is `#rrggbb`."""
    channels = (int(color[start : start + 2], 16) / 255 for start in (1, 3, 5))
    luminance = sum(weight * _linear(channel) for weight, channel in zip(_WEIGHTS, channels, strict=True))
    contrast_of_black, contrast_of_white = (luminance + _FLARE) / _FLARE, (1 + _FLARE) / (luminance + _FLARE)
    return BLACK if contrast_of_black >= contrast_of_white else WHITE


def _linear(channel: float) -> float:
    return channel / 12.92 if channel <= _LINEAR_UP_TO else ((channel + 0.055) / 1.055) ** 2.4


def _layout(template: str | None) -> LayoutElement | None:
    return None if template is None else read_layout(template)


def _sign_out_css(settings: ScreenSettings) -> str:
    return inherited_css(settings) if settings.logout_custom_css is None else settings.logout_custom_css
