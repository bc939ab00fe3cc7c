"""Permissions in records that the version before does not know."""

import msgspec

from server.platform.records import Kind
from server.platform.records.contents import Contents
from tests.server.platform.records.things import Thing, thing

NEW = Kind(Thing, "thing", later={"colours": frozenset({"mauve", "teal"})}, owners=())
OLD = Kind(Thing, "thing", owners=())


def test_later_texts_are_kept_where_the_version_before_does_not_look() -> None:
    content = Contents(NEW).written(thing(colours=("red", "mauve", "blue")))

    assert Contents(OLD).read(content).colours == ("red", "blue")
    assert msgspec.json.decode(content)["colours"] == ["red", "blue"]


def test_a_record_with_later_texts_comes_back_as_it_went_in() -> None:
    contents = Contents(NEW)
    whole = thing(colours=("teal", "red", "mauve"), note='"whole_colours"')

    assert contents.read(contents.written(whole)) == whole


def test_what_the_version_before_wrote_since_then_counts() -> None:
    written = Contents(NEW).written(thing(colours=("red", "mauve")))

    again = Contents(OLD).written(Contents(OLD).read(written))

    assert Contents(NEW).read(again).colours == ("red",)


def test_a_record_without_later_texts_is_the_same_in_both_versions() -> None:
    whole = thing(colours=("red", "blue"))

    assert Contents(NEW).written(whole) == Contents(OLD).written(whole)


IN_PLACE = Kind(Thing, "thing", instead={"note": {"mauve": "red"}}, owners=())


def test_the_version_before_reads_another_text_in_place_of_a_later_one() -> None:
    content = Contents(IN_PLACE).written(thing(note="mauve"))

    assert Contents(OLD).read(content).note == "red"
    assert Contents(IN_PLACE).read(content).note == "mauve"


def test_what_the_version_before_wrote_in_its_place_counts() -> None:
    written = Contents(IN_PLACE).written(thing(note="mauve"))

    again = Contents(OLD).written(Contents(OLD).read(written))

    assert Contents(IN_PLACE).read(again).note == "red"


def test_another_text_is_written_as_it_is() -> None:
    assert Contents(IN_PLACE).written(thing(note="blue")) == Contents(OLD).written(thing(note="blue"))
