"""The choice of a language: RFC 4647 §3.4, RFC 9110 §12.5.4; and what a language makes of times and numbers."""

from datetime import UTC, datetime
from gettext import NullTranslations

import pytest
from babel import Locale

from server.platform.languages import ENGLISH, Language, Languages, languages

GERMAN = languages().of("de")
SOME = Languages(
    Language(tag, Locale.parse(tag, sep="-"), NullTranslations()) for tag in ("de", "pt-BR", "zh-Hant")
)


@pytest.mark.parametrize(
    ("ui_locales", "accept_language", "of_user", "chosen"),
    [
        pytest.param((), "", "", "en", id="nothing"),
        pytest.param(("de",), "en", "pt-BR", "de", id="the request before the browser"),
        pytest.param((), "de", "pt-BR", "de", id="the browser before the user"),
        pytest.param((), "fr", "pt-BR", "pt-BR", id="the user where the browser has no language of ours"),
        pytest.param(("fr", "de"), "en", "", "de", id="the first of the request that there is"),
        pytest.param(("fr",), "de", "", "de", id="the browser where the request has none of ours"),
        pytest.param((), "fr, de;q=0.5, en;q=0.8", "", "en", id="by weight"),
        pytest.param((), "de-AT", "", "de", id="a region falls back to its language"),
        pytest.param((), "zh-Hant-HK", "", "zh-Hant", id="a region falls back to its script"),
        pytest.param((), "PT-br", "", "pt-BR", id="whatever the case"),
        pytest.param((), "pt", "", "en", id="a language does not extend to a region"),
        pytest.param((), "de;q=0, en;q=0.1", "", "en", id="a refused language"),
        pytest.param((), "*", "de", "de", id="any language"),
        pytest.param((), "de;q=many", "", "en", id="a weight that is none"),
        pytest.param(("../../x",), "\x00;=,,;q=,", "'", "en", id="nonsense"),
    ],
)
def test_a_language_is_chosen(
    ui_locales: tuple[str, ...], accept_language: str, of_user: str, chosen: str
) -> None:
    found = SOME.chosen(ui_locales=ui_locales, accept_language=accept_language, of_user=of_user)

    assert chosen == found.tag


def test_wishes_beyond_the_sixteenth_do_not_count() -> None:
    assert SOME.chosen(accept_language="fr," * 16 + "de").tag == "en"
    assert SOME.chosen(accept_language="fr," * 15 + "de").tag == "de"


def test_catalogues_are_read_once() -> None:
    assert languages() is languages()


@pytest.mark.parametrize(
    ("seconds", "english", "german"),
    [
        (0, "", ""),
        (1, "in 1 second", "in 1 Sekunde"),
        (59, "in 59 seconds", "in 59 Sekunden"),
        (60, "in 1 minute", "in 1 Minute"),
        (61, "in 2 minutes", "in 2 Minuten"),
        (565, "in 10 minutes", "in 10 Minuten"),
        (90 * 60 - 1, "in 90 minutes", "in 90 Minuten"),
        (90 * 60, "in 2 hours", "in 2 Stunden"),
        (86_400, "in 24 hours", "in 24 Stunden"),
        (36 * 3600, "in 2 days", "in 2 Tagen"),
    ],
)
def test_a_wait_is_rounded_up(seconds: int, english: str, german: str) -> None:
    assert (english, german) == (ENGLISH.in_time(seconds), GERMAN.in_time(seconds))


def test_times_and_numbers_are_those_of_the_language() -> None:
    at = datetime(2026, 3, 9, 7, 5, tzinfo=UTC)

    assert (ENGLISH.moment(at), GERMAN.moment(at)) == ("9 March 2026, 07:05 UTC", "9. März 2026, 07:05 UTC")
    assert (ENGLISH.number(1234.5), GERMAN.number(1234.5)) == ("1,234.5", "1.234,5")


def test_a_missing_translation_is_shown_in_english() -> None:
    assert GERMAN.translated("no such text: %(count)s", count=3) == "no such text: 3"
    assert GERMAN.translated("") == ""
