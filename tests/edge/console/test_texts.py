"""Reasons of refusals on pages of the console."""

from aiohttp.test_utils import make_mocked_request
from markupsafe import Markup, escape

from edge.console.renderer import Renderer
from edge.console.texts import REFUSALS, reason_of
from server.platform.errors import PROBLEMS, InvalidArgument, NotFound
from server.platform.languages import ENGLISH, languages

GERMAN = languages().of("de")
HOSTILE = "<img src=x onerror=alert(1)>"


def test_a_refusal_of_each_kind_has_a_sentence() -> None:
    assert REFUSALS.keys() == {problem.title for problem in PROBLEMS.values()}


def test_a_reason_without_translation_follows_its_kind_and_is_marked_as_english() -> None:
    assert str(escape(reason_of(NotFound("there is no job 42"), GERMAN))) == (
        'Das gibt es nicht. <span lang="en">there is no job 42</span>'
    )


def test_a_reason_that_is_translated_stands_alone() -> None:
    reason = reason_of(InvalidArgument("Choose an action."), GERMAN)

    assert reason == GERMAN.translated("Choose an action.") != "Choose an action."


def test_an_english_page_has_the_reason_as_it_is() -> None:
    assert reason_of(NotFound("there is no job 42"), ENGLISH) == "there is no job 42"


def test_text_of_a_reason_is_text() -> None:
    reason = reason_of(NotFound(HOSTILE), GERMAN)

    assert isinstance(reason, Markup)
    assert "<img" not in reason
    assert "<img" not in escape(reason_of(NotFound(HOSTILE), ENGLISH))


def test_a_page_keeps_the_mark_and_escapes_the_rest() -> None:
    request = make_mocked_request("GET", "/", headers={"Accept-Language": "de"})
    facts = {"status": 404, "heading": "", "request_id": "", "back": "/console/", "start": "/console/"}
    reason = reason_of(NotFound(HOSTILE), GERMAN)
    page = Renderer({"console.css": "", "mark.svg": "", "frame.js": ""}).page(
        request, "error.html", {**facts, "detail": reason}
    )

    assert f'<span lang="en">{escape(HOSTILE)}</span>' in str(page.text)
