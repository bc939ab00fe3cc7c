"""Packed records change compatibly with older programs, or with a new format."""

from pathlib import Path

import pytest

from server.engine.formats import LATEST
from tests.server.formats.records import Records, incompatible, packed_records, parsed, text_of

RELEASED = Path(__file__).with_name("released.txt")
BEFORE: Records = {"Job": ("key: int", "worker: str = ''"), "State": ("one of ACTIVE FAILED",)}


def test_a_change_that_the_last_release_cannot_read_raises_the_format() -> None:
    number, before = parsed(RELEASED.read_text())

    broken = incompatible(before, packed_records()) if number == LATEST else []

    assert broken == [], "add a row to FORMATS in server/engine/formats.py"


def test_a_release_has_at_most_one_new_format() -> None:
    number, _ = parsed(RELEASED.read_text())

    assert number <= LATEST <= number + 1


def test_the_records_come_out_of_their_text_as_they_went_in() -> None:
    assert parsed(text_of(packed_records())) == (LATEST, packed_records())


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        pytest.param(BEFORE, [], id="nothing"),
        pytest.param({**BEFORE, "Job": (*BEFORE["Job"], "tag: str = ''")}, [], id="a field with a default"),
        pytest.param({**BEFORE, "Tag": ("key: int",)}, [], id="a record"),
        pytest.param(
            {**BEFORE, "Job": (*BEFORE["Job"], "tag: str")},
            ["Job has, without a default: tag: str"],
            id="a field without a default",
        ),
        pytest.param({**BEFORE, "Job": ("key: int",)}, ["Job lacks: worker: str = ''"], id="one less"),
        pytest.param(
            {**BEFORE, "Job": ("id: int", "worker: str = ''")},
            ["Job has, without a default: id: int", "Job lacks: key: int"],
            id="another name",
        ),
        pytest.param(
            {**BEFORE, "Job": ("key: int", "worker: str = 'w'")},
            ["Job lacks: worker: str = ''"],
            id="another default",
        ),
        pytest.param(
            {**BEFORE, "State": ("one of ACTIVE FAILED GONE",)},
            ["State has, without a default: one of ACTIVE FAILED GONE", "State lacks: one of ACTIVE FAILED"],
            id="a choice",
        ),
        pytest.param({"Job": BEFORE["Job"]}, ["State is gone"], id="a record less"),
    ],
)
def test_fields_with_a_default_may_be_added_and_nothing_else(after: Records, expected: list[str]) -> None:
    assert expected == incompatible(BEFORE, after)
