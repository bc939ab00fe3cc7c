"""Settings of a client's screens: validation, sanitization and inheritance."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from identity.authentication.screens.css_selectors import CARD, CUSTOM_SCREEN
from identity.authentication.screens.errors import CssRefused, LayoutRefused, ScreensRefused
from identity.authentication.screens.layout import read_layout
from identity.authentication.screens.plain_text import is_plain
from identity.authentication.screens.stylesheet import Stylesheet, sanitized

MAX_CSS_BYTES: Final = 32_768
MAX_TEMPLATE_BYTES: Final = 8192

_ACCENT = re.compile(r"#[0-9A-Fa-f]{6}")
_TEXTS = ("login_heading", "login_description", "logout_heading", "logout_description")
_ACCENTS = ("accent_color", "logout_accent_color")


class Theme(StrEnum):
    DARK = "dark"
    LIGHT = "light"


class Composition(StrEnum):
    CENTERED = "centered"
    SPLIT = "split"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreenSettings:
    """Fields that begin with `logout_` are about the sign-out screen, all others about the sign-in screen.

    A sign-out value that is None is inherited from the sign-in screen, except the template: without one, a screen has
    the preset layout.
    """

    theme: Theme = Theme.LIGHT
    composition: Composition = Composition.CENTERED
    accent_color: str = "#0b57d0"
    login_heading: str = ""
    login_description: str = ""
    logout_heading: str = ""
    logout_description: str = ""
    show_client_logo: bool = True
    logout_theme: Theme | None = None
    logout_composition: Composition | None = None
    logout_accent_color: str | None = None
    logout_show_client_logo: bool | None = None
    login_template: str | None = None
    logout_template: str | None = None
    custom_css: str | None = None
    logout_custom_css: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SanitizedScreens:
    """`logout_css` is the sign-out stylesheet, also when inherited; `removed_rules` are counts by setting."""

    settings: ScreenSettings
    logout_css: str
    removed_rules: Mapping[str, int]


def sanitized_screens(draft: ScreenSettings, kept: ScreenSettings) -> SanitizedScreens:
    """Validate and sanitize a replacement of `kept`; raises ScreensRefused for the first invalid setting."""
    _expect_plain(draft)
    draft = replace(
        draft,
        login_template=_template("login_template", draft.login_template),
        logout_template=_template("logout_template", draft.logout_template),
    )
    root, logout_root = _root(draft.login_template), _root(draft.logout_template)
    login = _css("custom_css", draft.custom_css, kept.custom_css, root=root)
    logout = _css("logout_custom_css", draft.logout_custom_css, kept.logout_custom_css, root=logout_root)
    inherits = draft.logout_custom_css is None
    settings = replace(
        draft, custom_css=login.text or None, logout_custom_css=None if inherits else logout.text
    )
    return SanitizedScreens(
        settings=settings,
        logout_css=inherited_css(settings) if inherits else logout.text,
        removed_rules={"custom_css": login.removed_rules, "logout_custom_css": logout.removed_rules},
    )


def inherited_css(settings: ScreenSettings) -> str:
    """Return the sign-in stylesheet for the sign-out screen, whose root may differ."""
    css, logout_root = settings.custom_css or "", _root(settings.logout_template)
    return css if logout_root == _root(settings.login_template) else sanitized(css, logout_root).text


def _root(template: str | None) -> str:
    return CARD if template is None else CUSTOM_SCREEN


def _expect_plain(draft: ScreenSettings) -> None:
    for field in _TEXTS:
        if not is_plain(getattr(draft, field)):
            raise ScreensRefused(field, f"{field}: expected text without control characters")
    for field in _ACCENTS:
        accent = getattr(draft, field)
        if accent is not None and not _ACCENT.fullmatch(accent):
            raise ScreensRefused(field, f"{field}: expected # and six hexadecimal digits")


def _template(field: str, template: str | None) -> str | None:
    """Return a valid template, None for an empty one."""
    if template is None or not template.strip():
        return None
    if _size(template) > MAX_TEMPLATE_BYTES:
        raise ScreensRefused(field, f"{field}: expected {MAX_TEMPLATE_BYTES} bytes at most")
    try:
        read_layout(template)
    except LayoutRefused as error:
        raise ScreensRefused(field, str(error)) from error
    return template


def _css(field: str, css: str | None, kept: str | None, *, root: str) -> Stylesheet:
    # Sanitizing may lengthen a stylesheet, and the stored one may be saved again.
    if css is not None and css != kept and _size(css) > MAX_CSS_BYTES:
        raise ScreensRefused(field, f"{field}: expected {MAX_CSS_BYTES} bytes at most")
    try:
        return sanitized(css or "", root)
    except CssRefused as error:
        raise ScreensRefused(field, str(error)) from error


def _size(text: str) -> int:
    return len(text.encode())
