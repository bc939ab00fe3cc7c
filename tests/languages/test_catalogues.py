"""Catalogues of translations: each text that people see has one, with the same placeholders and tags."""

import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import pytest
from babel.messages.catalog import Message

from tests.languages.texts import catalogue_of, catalogues, marked_texts

# Languages that are promised to be complete. Others show English where a translation is missing.
COMPLETE = ("de",)
PLACEHOLDER = re.compile(r"%\((\w+)\)[sd]|%%|%")


def messages(path: Path) -> list[Message]:
    return [message for message in catalogue_of(path) if message.id]


def forms(text: str | tuple[str, ...] | list[str]) -> tuple[str, ...]:
    return (text,) if isinstance(text, str) else tuple(text)


class Tags(HTMLParser):
    """Tags with their attributes, and how often each stands in a text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: Counter[str] = Counter()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found[f"{tag} {sorted(attrs)}"] += 1

    def handle_endtag(self, tag: str) -> None:
        self.found[f"/{tag}"] += 1


@pytest.mark.parametrize("tag", COMPLETE)
def test_every_text_is_translated(tag: str) -> None:
    path = next(path for path in catalogues() if path.stem == tag)
    translated = {
        message.id if isinstance(message.id, str) else tuple(message.id)
        for message in messages(path)
        if message.string and all(forms(message.string)) and not message.fuzzy
    }

    assert sorted(map(str, marked_texts() - translated)) == []


@pytest.mark.parametrize("path", catalogues(), ids=lambda path: path.stem)
def test_a_catalogue_has_no_text_that_is_gone(path: Path) -> None:
    known = {message.id if isinstance(message.id, str) else tuple(message.id) for message in messages(path)}

    assert sorted(map(str, known - marked_texts())) == []


@pytest.mark.parametrize("path", catalogues(), ids=lambda path: path.stem)
def test_a_translation_has_the_placeholders_of_its_text(path: Path) -> None:
    differing = [
        message.id
        for message in messages(path)
        for translation in filter(None, forms(message.string))
        # A singular may leave its number out, in each language.
        if not set(PLACEHOLDER.findall(forms(message.id)[0]))
        <= set(PLACEHOLDER.findall(translation))
        <= set(PLACEHOLDER.findall(forms(message.id)[-1]))
    ]

    assert differing == []


@pytest.mark.parametrize("path", catalogues(), ids=lambda path: path.stem)
def test_a_translation_has_the_tags_of_its_text(path: Path) -> None:
    differing = [
        message.id
        for message in messages(path)
        for translation in filter(None, forms(message.string))
        if Tags(forms(message.id)[0]).found != Tags(translation).found
    ]

    assert differing == []


@pytest.mark.parametrize("path", catalogues(), ids=lambda path: path.stem)
def test_a_translation_ends_as_its_text_does(path: Path) -> None:
    """A full stop, a question mark, an ellipsis and a colon tell what a text is."""
    differing = [
        message.id
        for message in messages(path)
        for translation in filter(None, forms(message.string))
        if forms(message.id)[0][-1:] != translation[-1:]
        and {forms(message.id)[0][-1], translation[-1]} & set(".?…:")
    ]

    assert differing == []
