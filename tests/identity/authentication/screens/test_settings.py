"""Settings of screens: validation as a whole, and inheritance by the sign-out screen."""

from dataclasses import replace

import pytest

from identity.authentication.screens.errors import ScreensRefused
from identity.authentication.screens.screen import BLACK, WHITE, sign_in_screen, sign_out_screen, text_on
from identity.authentication.screens.settings import (
    MAX_CSS_BYTES,
    MAX_TEMPLATE_BYTES,
    Composition,
    SanitizedScreens,
    ScreenSettings,
    Theme,
    sanitized_screens,
)

TEMPLATE = "<screen><auth-content/></screen>"
DEFAULTS = ScreenSettings()
LOGIN = ScreenSettings(
    theme=Theme.DARK, composition=Composition.SPLIT, accent_color="#ffcc00", show_client_logo=False
)


def saved(**settings: object) -> SanitizedScreens:
    return sanitized_screens(replace(DEFAULTS, **settings), DEFAULTS)


def test_a_sign_out_value_that_is_not_set_is_that_of_the_sign_in_screen() -> None:
    screen = sign_out_screen(LOGIN)

    assert (screen.theme, screen.composition) == (Theme.DARK, Composition.SPLIT)
    assert (screen.accent_color, screen.text_on_accent, screen.shows_client_logo) == ("#ffcc00", BLACK, False)


@pytest.mark.parametrize(
    ("setting", "value", "shown"),
    [
        ("logout_theme", Theme.LIGHT, "theme"),
        ("logout_composition", Composition.CENTERED, "composition"),
        ("logout_accent_color", "#0000ff", "accent_color"),
        ("logout_show_client_logo", True, "shows_client_logo"),
    ],
)
def test_a_sign_out_value_overrides_that_of_the_sign_in_screen_alone(
    setting: str, value: object, shown: str
) -> None:
    inherited = sign_out_screen(LOGIN)

    screen = sign_out_screen(replace(LOGIN, **{setting: value}))

    assert getattr(screen, shown) == value
    assert (
        replace(screen, **{shown: getattr(inherited, shown), "text_on_accent": inherited.text_on_accent})
        == inherited
    )
    assert sign_in_screen(replace(LOGIN, **{setting: value})) == sign_in_screen(LOGIN)


def test_a_template_is_not_inherited() -> None:
    settings = saved(login_template=TEMPLATE).settings

    assert sign_in_screen(settings).layout is not None
    assert sign_out_screen(settings).layout is None


def test_what_stands_on_the_accent_color_can_be_read() -> None:
    colors = ["#757575", "#767676", "#777777", "#ff0000", "#0000ff", "#1976d2", "#ffcc00"]

    assert [text_on(color) for color in colors] == [WHITE, BLACK, BLACK, BLACK, WHITE, WHITE, BLACK]


@pytest.mark.parametrize(
    "accent", ["#12345", "#1234567", "red", "#GGGGGG", "#abcdef ", "#abcdef\n", "#１23456", ""]
)
@pytest.mark.parametrize("field", ["accent_color", "logout_accent_color"])
def test_an_accent_color_has_six_digits(field: str, accent: str) -> None:
    with pytest.raises(ScreensRefused) as refusal:
        saved(**{field: accent})

    assert refusal.value.field == field


@pytest.mark.parametrize("heading", ["a\u202eb", "a\0b", "a\x1bb"])
def test_a_heading_turns_nothing_around(heading: str) -> None:
    with pytest.raises(ScreensRefused):
        saved(login_heading=heading)


def test_stylesheets_are_kept_as_they_are_left_with_counts_apart() -> None:
    found = saved(custom_css="p{color:red;position:fixed;z-index:1}", logout_custom_css="q{a:b}@import 'x';")

    assert (found.settings.custom_css, found.settings.logout_custom_css) == (
        ".card p{color:red}",
        ".card q{a:b}",
    )
    assert found.removed_rules == {"custom_css": 2, "logout_custom_css": 1}


def test_what_is_kept_is_kept_again_as_it_is() -> None:
    first = saved(custom_css="p,.card,.card q{color:red}", login_template=TEMPLATE, logout_custom_css="")

    again = sanitized_screens(first.settings, first.settings)

    assert again == replace(first, removed_rules={"custom_css": 0, "logout_custom_css": 0})


@pytest.mark.parametrize(
    ("css", "kept"), [(None, None), ("", ""), (" /* nothing */ ", ""), ("@import 'x';", "")]
)
def test_no_sign_out_stylesheet_inherits_and_an_empty_one_does_not(css: str | None, kept: str | None) -> None:
    settings = saved(custom_css="p{a:b}", logout_custom_css=css).settings

    assert settings.logout_custom_css == kept
    assert sign_out_screen(settings).css == (".card p{a:b}" if css is None else "")


@pytest.mark.parametrize(
    ("login_template", "logout_template", "login_root", "logout_root"),
    [
        (None, None, ".card", ".card"),
        (TEMPLATE, None, ".custom-screen", ".card"),
        (None, TEMPLATE, ".card", ".custom-screen"),
        (TEMPLATE, TEMPLATE, ".custom-screen", ".custom-screen"),
    ],
)
def test_each_stylesheet_is_about_the_root_of_its_own_screen(
    login_template: str | None, logout_template: str | None, login_root: str, logout_root: str
) -> None:
    templates = {"login_template": login_template, "logout_template": logout_template}

    own = saved(custom_css="p{a:b}", logout_custom_css="q{a:b}", **templates)
    inherited = saved(custom_css="p{a:b}", **templates)

    assert (own.settings.custom_css, own.logout_css) == (f"{login_root} p{{a:b}}", f"{logout_root} q{{a:b}}")
    assert inherited.logout_css == f"{logout_root} p{{a:b}}" == sign_out_screen(inherited.settings).css


def test_a_template_that_comes_or_goes_takes_the_stylesheet_along() -> None:
    preset = saved(custom_css="p{a:b}").settings

    custom = sanitized_screens(replace(preset, login_template=TEMPLATE), preset).settings
    back = sanitized_screens(replace(custom, login_template=None), custom).settings

    assert custom.custom_css == ".custom-screen p{a:b}"
    assert back == preset


@pytest.mark.parametrize("template", ["", "  \n"])
def test_an_empty_template_is_none(template: str) -> None:
    assert saved(login_template=template).settings.login_template is None


@pytest.mark.parametrize("field", ["login_template", "logout_template"])
def test_a_template_has_so_many_bytes_at_most(field: str) -> None:
    whole = f"<screen><text>{{}}</text>{TEMPLATE[8:]}"
    room = MAX_TEMPLATE_BYTES - len(whole.format("").encode())

    assert getattr(saved(**{field: whole.format("ä" * (room // 2) + "a" * (room % 2))}).settings, field)
    with pytest.raises(ScreensRefused) as refusal:
        saved(**{field: whole.format("a" * (room + 1))})
    assert refusal.value.field == field


@pytest.mark.parametrize("field", ["custom_css", "logout_custom_css"])
def test_a_stylesheet_has_so_many_bytes_at_most_when_it_is_sent(field: str) -> None:
    css = "h1{a:b}" + "ä{a:b}" * ((MAX_CSS_BYTES - 7) // 7)
    css += " " * (MAX_CSS_BYTES - len(css.encode()))

    kept = saved(**{field: css}).settings

    assert len(getattr(kept, field).encode()) > MAX_CSS_BYTES
    assert sanitized_screens(kept, kept).settings == kept
    with pytest.raises(ScreensRefused) as refusal:
        saved(**{field: f"{css} "})
    assert refusal.value.field == field


@pytest.mark.parametrize("field", ["custom_css", "logout_custom_css"])
def test_a_stylesheet_that_is_refused_says_where(field: str) -> None:
    with pytest.raises(ScreensRefused, match=r"^line 2, column 1: ") as refusal:
        saved(**{field: "p{a:b}\n> q{a:b}"})

    assert refusal.value.field == field
