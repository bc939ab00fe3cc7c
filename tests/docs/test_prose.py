"""Sentences name the actor: no riddles, no passive telling, no metaphors for trade terms."""

import re

import pytest

from tests.docs.prose import sentences

PATTERNS = {
    "a sentence that begins with a riddle": re.compile(
        r"^(?:Who|Whoever|What|Whatever|Nobody|Everybody who|That which)\b(?!.*\?$)"
    ),
    "so many": re.compile(r"\bso many\b", re.IGNORECASE),
    "is told": re.compile(r"\b(?:is|are|was|were|be|been) told\b", re.IGNORECASE),
    "tells of": re.compile(r"\btells? of\b", re.IGNORECASE),
    "the other one of": re.compile(r"\bthe other one of\b", re.IGNORECASE),
    "a metaphor": re.compile(r"\b(?:errands?|manners|upkeep|residence)\b", re.IGNORECASE),
    "an idiom": re.compile(r"\b(?:as good as|comes? along|without a word)\b", re.IGNORECASE),
}


@pytest.mark.parametrize("tic", PATTERNS)
def test_no_sentence_has(tic: str) -> None:
    assert [str(sentence) for sentence in sentences() if PATTERNS[tic].search(sentence.text)] == []


@pytest.mark.parametrize(
    ("tic", "text"),
    [
        ("a sentence that begins with a riddle", "What time brings."),
        ("so many", "At most so many of them."),
        ("is told", "The worker is told."),
        ("tells of", "An event tells of it."),
        ("the other one of", "The other one of the two."),
        ("a metaphor", "An errand for the queue."),
        ("an idiom", "An expired record is as good as gone."),
    ],
)
def test_the_check_finds(tic: str, text: str) -> None:
    assert PATTERNS[tic].search(text)


def test_a_question_may_begin_with_what() -> None:
    assert not PATTERNS["a sentence that begins with a riddle"].search("What is off meanwhile?")
