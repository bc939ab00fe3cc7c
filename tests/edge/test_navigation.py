import pytest

from edge.navigation import prefers_html

CHROMIUM = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"
FIREFOX = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"


@pytest.mark.parametrize(
    "accept",
    [
        pytest.param(CHROMIUM, id="Chromium"),
        pytest.param(FIREFOX, id="Firefox"),
        pytest.param("text/html", id="HTML alone"),
        pytest.param("TEXT/HTML;charset=utf-8", id="capitals and a parameter"),
        pytest.param("application/json;q=0.5, text/html;q=0.6", id="JSON second"),
        pytest.param("text/html;q=nonsense", id="malformed weight"),
    ],
)
def test_html_before_everything_else_is_a_browser(accept: str) -> None:
    assert prefers_html(accept)


@pytest.mark.parametrize(
    "accept",
    [
        pytest.param("", id="nothing"),
        pytest.param("*/*", id="everything"),
        pytest.param("text/*", id="any text"),
        pytest.param("application/json", id="JSON"),
        pytest.param("application/json, text/plain, */*", id="axios"),
        pytest.param("text/html, application/json", id="JSON as much"),
        pytest.param("text/html;q=0.1, application/problem+json", id="problem details first"),
        pytest.param("text/html;q=0.5, */*", id="anything else first"),
        pytest.param("text/html;q=0", id="HTML never"),
    ],
)
def test_everything_else_is_a_program(accept: str) -> None:
    assert not prefers_html(accept)
