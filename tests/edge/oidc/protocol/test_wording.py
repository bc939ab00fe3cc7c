"""The English of pages and messages: phrases that a native speaker would not write."""

import re
from pathlib import Path

import pytest

import edge.oidc.pages
import identity

FOREIGN = re.compile(
    r"good no more|go on to|going on|give a code|say the address|take this back|look (?:into|at) your m"
    r"|was not taken|show (?:your|my) passkey|that did not work|somebody, (?:hopefully|perhaps)"
    r"|signs its people|waits to be confirmed|no more\b|you may close|e-mail",
    re.IGNORECASE,
)
PAGES = Path(edge.oidc.pages.__file__).parent
TEXTS = [
    *PAGES.glob("templates/*.html"),
    *PAGES.glob("static/*.js"),
    *PAGES.glob("words.py"),
    *Path(identity.__file__).parent.glob("**/letters.py"),
]


@pytest.mark.parametrize("path", sorted(TEXTS), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_text_for_people_is_in_plain_english(path: Path) -> None:
    assert FOREIGN.findall(path.read_text()) == []
