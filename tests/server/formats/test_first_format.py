"""This program reads all that the last release without format numbers packed.

`first_format.json` has bytes in hexadecimal that the program of that release wrote: it never changes.
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from server.engine.documents import pack_first, unpack
from server.engine.pages import FIRST_FORMAT, HEAD_PAGE, StoredPage
from server.partition.turn import definition_of
from server.partition.wire import ANSWERS, AUDIT_ENTRIES, COMMANDS, ORIGINS

FIRST = json.loads(Path(__file__).with_name("first_format.json").read_text())
# The number that a call carries whose sender has none, and that of a row without one.
NO_NUMBER, FIRST_NUMBER = 0, 1

# Of the first format.
DEFAULTS = (None, 0, "", {}, [], "ACTIVATABLE", "ACTIVATING")

_decode = msgspec.msgpack.decode


def contents(kind: str) -> list[Any]:
    found = FIRST[kind]
    named = found.items() if isinstance(found, dict) else enumerate(found)
    return [pytest.param(bytes.fromhex(content), id=f"{kind} {name}") for name, content in named]


def holds(now: object, before: object) -> bool:
    """Whether everything that was there is there; fields with a default may have come, and may be left out."""
    if isinstance(before, dict):
        return isinstance(now, dict) and all(
            holds(now[key], before[key]) if key in now else before[key] in DEFAULTS for key in before
        )
    if isinstance(before, Sequence) and not isinstance(before, str | bytes):
        return (
            isinstance(now, Sequence)
            and len(now) == len(before)
            and all(holds(*pair) for pair in zip(now, before, strict=True))
        )
    return now == before


@pytest.mark.parametrize("number", [NO_NUMBER, FIRST_NUMBER])
@pytest.mark.parametrize("content", contents("commands"))
def test_commands_are_read(content: bytes, number: int) -> None:
    assert holds(_decode(COMMANDS.pack(COMMANDS.unpack(content, number))), _decode(content))


@pytest.mark.parametrize("number", [NO_NUMBER, FIRST_NUMBER])
@pytest.mark.parametrize("content", contents("answers"))
def test_answers_are_read(content: bytes, number: int) -> None:
    assert holds(_decode(ANSWERS.pack(ANSWERS.unpack(content, number))), _decode(content))


@pytest.mark.parametrize(
    ("packing", "content"),
    [
        *(pytest.param(ORIGINS, *each.values, id=each.id) for each in contents("origins")),
        *(pytest.param(AUDIT_ENTRIES, *each.values, id=each.id) for each in contents("audit_entries")),
    ],
)
def test_callers_and_audit_entries_are_read(packing: Any, content: bytes) -> None:
    assert holds(_decode(packing.pack(packing.unpack(content, NO_NUMBER))), _decode(content))


@pytest.mark.parametrize(
    ("read", "content"),
    [pytest.param(definition_of, *each.values, id=each.id) for each in contents("definitions")],
)
def test_definitions_are_read(read: Callable[[bytes], object], content: bytes) -> None:
    assert holds(_decode(msgspec.msgpack.encode(read(content))), _decode(content))


@pytest.mark.parametrize("content", contents("documents"))
def test_documents_are_read(content: bytes) -> None:
    instance = unpack({HEAD_PAGE: StoredPage(FIRST_FORMAT, content)})

    assert holds(_decode(pack_first(instance).content, strict=False), _decode(content, strict=False))
