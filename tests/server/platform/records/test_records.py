"""The interface of record stores, for memory and PostgreSQL alike."""

from dataclasses import replace
from datetime import timedelta

import pytest

from server.platform.clock import VirtualClock
from server.platform.errors import InvalidArgument
from server.platform.records import (
    REMOVALS,
    AlreadyThere,
    Changed,
    Condition,
    Guard,
    Kind,
    Records,
    RecordStore,
    Removal,
)
from tests.server.platform.records.things import (
    ACME,
    NOON,
    THINGS,
    UMBRELLA,
    Maker,
    Part,
    Size,
    Thing,
    after,
    thing,
)


def ids(records: object) -> list[str]:
    return [record.id for record in records]  # type: ignore[attr-defined]


def removal_of(owner_id: str) -> Removal:
    return Removal(
        tenant_id=ACME,
        id=f"end of {owner_id}",
        kind="thing",
        owner_id=owner_id,
        name=owner_id,
        removed_at=NOON,
        next_at=NOON,
    )


async def test_a_record_comes_back_as_it_went_in(records: Records[Thing]) -> None:
    whole = thing(
        name="né\U0001f600",
        owner="o",
        colours=("red", "blue", "red", ""),
        size=Size.LARGE,
        note="with \0 and \\u0000",
        parts=(Part(NOON, b"\0\xff"),),
        labels={"b": "1", "a": "2"},
        lasts=timedelta(days=400, microseconds=1),
        expires_at=after(60),
    )

    kept = await records.insert(whole)

    assert replace(whole, revision=1) == kept
    assert kept == await records.get(ACME, "one")
    assert list(kept.labels) == ["b", "a"]


async def test_a_record_is_of_its_tenant_alone(records: Records[Thing]) -> None:
    await records.insert(thing(name="n", owner="o"))
    other = await records.insert(thing(tenant_id=UMBRELLA, name="n", owner="o"))

    assert other == await records.get(UMBRELLA, "one")
    assert [other] == await records.find(UMBRELLA, "owner", "o")
    assert await records.take(ACME, "one")
    assert other == await records.get(UMBRELLA, "one")


async def test_what_is_not_there_is_not_found(records: Records[Thing]) -> None:
    assert await records.get(ACME, "one") is None
    assert await records.take(ACME, "one") is None
    assert await records.find(ACME, "name", "n") == []
    assert await records.remove(ACME, "name", "n") == 0
    assert await records.page(ACME) == []


async def test_records_are_found_by_their_fields_in_the_order_of_their_ids(records: Records[Thing]) -> None:
    await records.insert(thing("b", name="second", owner="o", colours=("red", "blue")))
    await records.insert(thing("a", name="first", owner="o"))
    await records.insert(thing("B", owner="p", colours=("red",)))

    assert ids(await records.find(ACME, "owner", "o")) == ["a", "b"]
    assert ids(await records.find(ACME, "owner", "o", most=1)) == ["a"]
    assert ids(await records.find(ACME, "name", "second")) == ["b"]
    assert ids(await records.find(ACME, "colours", "red")) == ["B", "b"]
    assert ids(await records.find(ACME, "colours", "blue")) == ["b"]


async def test_an_empty_text_finds_nothing_and_is_not_unique(records: Records[Thing]) -> None:
    await records.insert(thing("a", owner="", colours=("",)))
    await records.insert(thing("b", owner=None))

    for field in ("name", "owner", "colours"):
        assert await records.find(ACME, field, "") == []
        assert await records.remove(ACME, field, "") == 0


@pytest.mark.parametrize("text", ["\0", "a\0b"])
async def test_no_record_is_found_by_a_text_with_nul(records: Records[Thing], text: str) -> None:
    assert await records.get(ACME, text) is None
    assert await records.take(ACME, text) is None
    assert await records.find(ACME, "name", text) == []
    assert await records.remove(ACME, "name", text) == 0
    for refused in (thing(text), thing(name=text), thing(colours=("red", text))):
        with pytest.raises(InvalidArgument):
            await records.insert(refused)


async def test_a_page_goes_on_behind_an_id(records: Records[Thing]) -> None:
    for record_id in ("c", "a", "d", "b"):
        await records.insert(thing(record_id))

    assert ids(await records.page(ACME, most=3)) == ["a", "b", "c"]
    assert ids(await records.page(ACME, after="c", most=3)) == ["d"]


async def test_ids_and_unique_texts_are_there_once(records: Records[Thing]) -> None:
    await records.insert(thing("a", name="n", code="c"))

    for record, field in (
        (thing("a"), "id"),
        (thing("b", name="n"), "name"),
        (thing("b", code="c"), "code"),
    ):
        with pytest.raises(AlreadyThere) as refusal:
            await records.insert(record)
        assert refusal.value.field == field
    assert ids(await records.page(ACME)) == ["a"]


async def test_a_record_is_replaced_by_whoever_has_its_revision(records: Records[Thing]) -> None:
    first = await records.insert(thing(name="n", owner="o"))

    second = await records.replace(replace(first, name="m", owner="p", colours=("red",)))

    assert second.revision == 2
    assert second == await records.get(ACME, "one")
    assert await records.find(ACME, "name", "n") == []
    assert [second] == await records.find(ACME, "name", "m")
    assert [second] == await records.find(ACME, "colours", "red")
    with pytest.raises(Changed):
        await records.replace(replace(first, note="late"))
    with pytest.raises(Changed):
        await records.replace(thing("two", revision=1))


async def test_a_guarded_replacement_needs_the_revision_of_the_guard(records: Records[Thing]) -> None:
    first, guard = await records.insert(thing(name="n")), await records.insert(thing("guard", note="kept"))

    second = await records.replace(replace(first, name="m"), guard=Guard(THINGS, guard))
    with pytest.raises(Changed):
        await records.replace(replace(second, name="o"), guard=Guard(THINGS, guard))

    assert await records.get(ACME, "one") == second
    assert await records.get(ACME, "guard") == replace(guard, revision=2)


async def test_a_record_keeps_its_own_unique_text_and_gets_no_others(records: Records[Thing]) -> None:
    mine = await records.insert(thing("a", name="mine"))
    await records.insert(thing("b", name="yours"))

    mine = await records.replace(replace(mine, note="new"))

    with pytest.raises(AlreadyThere) as refusal:
        await records.replace(replace(mine, name="yours"))
    assert refusal.value.field == "name"
    assert mine == await records.get(ACME, "a")


async def test_what_was_taken_is_gone(records: Records[Thing]) -> None:
    kept = await records.insert(thing(name="n"))

    assert kept == await records.take(ACME, "one")
    assert await records.take(ACME, "one") is None
    assert await records.find(ACME, "name", "n") == []
    assert (await records.insert(thing(name="n"))).revision == 1


async def test_a_record_is_taken_with_its_revision_only(records: Records[Thing]) -> None:
    first = await records.insert(thing(name="n"))
    second = await records.replace(first)

    with pytest.raises(Changed):
        await records.take(ACME, "one", revision=first.revision)
    assert second == await records.take(ACME, "one", revision=second.revision)
    with pytest.raises(Changed):
        await records.take(ACME, "one", revision=second.revision)


async def test_an_expired_record_is_not_taken_with_its_revision(
    records: Records[Thing], clock: VirtualClock
) -> None:
    kept = await records.insert(thing(expires_at=after(5)))
    clock.advance(timedelta(seconds=5))

    with pytest.raises(Changed):
        await records.take(ACME, "one", revision=kept.revision)


async def test_a_removal_is_stored_together_with_the_end_of_its_owner(
    store: RecordStore, records: Records[Thing]
) -> None:
    await records.insert(thing())
    removal = removal_of("one")

    await records.take(ACME, "one", removal=removal)

    assert [replace(removal, revision=1)] == await store.of(REMOVALS).due(ACME, NOON, most=10)
    assert [replace(removal, revision=1)] == await store.of(REMOVALS).find(ACME, "reserved", "thing one")


async def test_no_removal_is_stored_without_an_owner_that_ends(
    store: RecordStore, records: Records[Thing]
) -> None:
    kept = await records.insert(thing())

    with pytest.raises(Changed):
        await records.take(ACME, "one", revision=kept.revision + 1, removal=removal_of("one"))
    assert await records.take(ACME, "other", removal=removal_of("other")) is None
    assert await store.of(REMOVALS).page(ACME) == []


async def test_records_are_found_by_their_owner_whatever_the_field(records: Records[Thing]) -> None:
    for record_id, factory in (("a", "mill"), ("b", "mill"), ("c", "forge")):
        await records.insert(thing(record_id, maker=Maker(factory), note="\0"))
    await records.insert(thing("d"))

    found = await records.find(ACME, "maker.factory", "mill")

    assert [each.id for each in found] == ["a", "b"]
    assert [each.id for each in await records.find(ACME, "id", "a")] == ["a"]
    assert await records.remove(ACME, "maker.factory", "mill") == 2
    assert await records.remove(ACME, "id", "c") == 1
    assert [each.id for each in await records.page(ACME)] == ["d"]


async def test_records_that_a_text_finds_are_removed_some_at_a_time(records: Records[Thing]) -> None:
    for record_id in ("a", "b", "c"):
        await records.insert(thing(record_id, owner="o"))

    assert await records.remove(ACME, "owner", "o", most=2) == 2
    assert [each.id for each in await records.page(ACME)] == ["c"]
    assert await records.remove(ACME, "owner", "o", most=2) == 1


async def test_all_that_a_text_finds_is_removed(records: Records[Thing]) -> None:
    for record_id, owner in (("a", "o"), ("b", "o"), ("c", "p")):
        await records.insert(thing(record_id, owner=owner, colours=("red",)))

    assert await records.remove(ACME, "owner", "o") == 2
    assert await records.remove(ACME, "colours", "red") == 1
    assert await records.page(ACME) == []


async def test_records_are_found_once_their_time_has_come_earliest_first(
    records: Records[Thing], clock: VirtualClock
) -> None:
    await records.insert(thing("a", wanted_at=after(2)))
    kept = await records.insert(thing("b", wanted_at=after(1)))
    await records.insert(thing("c", wanted_at=after(1.5), expires_at=after(3)))
    await records.insert(thing("d", UMBRELLA, wanted_at=after(1)))
    await records.insert(thing("e", wanted_at=after(2.000001)))

    assert await records.due(ACME, after(0.999999), most=10) == []
    assert [kept] == await records.due(ACME, after(1), most=10)
    assert ids(await records.due(ACME, after(2), most=10)) == ["b", "c", "a"]
    assert ids(await records.due(ACME, after(2), most=2)) == ["b", "c"]
    await records.replace(replace(kept, wanted_at=after(10)))
    clock.advance(timedelta(seconds=3))
    assert ids(await records.due(ACME, after(2), most=10)) == ["a"]
    await records.take(ACME, "a")
    assert await records.due(ACME, after(2), most=10) == []


async def test_tenants_with_records_whose_time_has_come(records: Records[Thing], clock: VirtualClock) -> None:
    await records.insert(thing("a", UMBRELLA, wanted_at=after(2)))
    await records.insert(thing("a", ACME, wanted_at=after(1), expires_at=after(5)))
    await records.insert(thing("b", ACME, wanted_at=after(10)))

    assert await records.due_tenants(after(0)) == []
    assert await records.due_tenants(after(1)) == [ACME]
    assert await records.due_tenants(after(2)) == [ACME, UMBRELLA]
    clock.advance(timedelta(seconds=5))
    assert await records.due_tenants(after(5)) == [UMBRELLA]
    assert await records.due_tenants(after(10)) == [ACME, UMBRELLA]


async def test_an_expired_record_is_as_good_as_gone(records: Records[Thing], clock: VirtualClock) -> None:
    kept = await records.insert(thing(name="n", owner="o", expires_at=after(60)))
    clock.pin(after(59.999))
    assert kept == await records.get(ACME, "one")

    clock.pin(after(60))

    assert await records.get(ACME, "one") is None
    assert await records.find(ACME, "owner", "o") == []
    assert await records.page(ACME) == []
    assert await records.take(ACME, "one") is None
    assert await records.remove(ACME, "owner", "o") == 0
    with pytest.raises(Changed):
        await records.replace(replace(kept, expires_at=None))


async def test_an_expired_record_is_in_nobodys_way(records: Records[Thing], clock: VirtualClock) -> None:
    await records.insert(thing("a", name="n", expires_at=after(60)))
    await records.insert(thing("b", code="c", expires_at=after(60)))
    other = await records.insert(thing("other"))
    clock.pin(after(61))

    await records.insert(thing("a", name="n"))
    await records.replace(replace(other, code="c"))

    assert ids(await records.page(ACME)) == ["a", "other"]


async def test_several_records_are_replaced_in_one_step(records: Records[Thing]) -> None:
    kept = [
        await records.insert(thing(f"{number}", name=f"n{number}", owner="o", colours=("red",)))
        for number in range(3)
    ]
    changed = [
        replace(record, owner=None, colours=('a"b', "c\\d", "é"), note="new", wanted_at=after(1))
        for record in kept
    ]

    assert await records.replace_all(changed) == 3

    assert [await records.get(ACME, record.id) for record in kept] == [
        replace(record, revision=2) for record in changed
    ]
    assert ids(await records.find(ACME, "colours", 'a"b')) == ["0", "1", "2"]
    assert await records.find(ACME, "colours", "red") == []
    assert await records.find(ACME, "owner", "o") == []
    assert ids(await records.due(ACME, after(1), most=5)) == ["0", "1", "2"]


async def test_records_that_somebody_changed_are_left_out_of_a_replacement(
    records: Records[Thing], clock: VirtualClock
) -> None:
    kept = [await records.insert(thing(id_, owner="o")) for id_ in ("changed", "same", "taken")]
    kept.append(await records.insert(thing("expired", owner="o", expires_at=after(60))))
    other = await records.insert(thing("same", UMBRELLA, owner="o"))
    first = await records.replace(replace(kept[0], owner="first"))
    await records.take(ACME, "taken")
    clock.advance(timedelta(minutes=2))

    replaced = await records.replace_all([replace(record, owner="second") for record in kept])

    assert replaced == 1
    assert await records.get(ACME, "changed") == first
    assert await records.get(UMBRELLA, "same") == other
    assert ids(await records.find(ACME, "owner", "second")) == ["same"]
    assert await records.get(ACME, "taken") is None
    assert await records.replace_all([]) == 0


async def test_several_records_are_inserted_in_one_step(records: Records[Thing]) -> None:
    new = [thing(f"{number}", name=f"n{number}", colours=('a"b', "é")) for number in range(3)]

    inserted = await records.insert_all(new)

    assert inserted == [replace(record, revision=1) for record in new]
    assert await records.get(ACME, "1") == inserted[1]
    assert ids(await records.find(ACME, "colours", "é")) == ["0", "1", "2"]


async def test_records_whose_texts_are_taken_are_left_out_of_an_insertion(
    records: Records[Thing], clock: VirtualClock
) -> None:
    await records.insert(thing("there", name="taken"))
    await records.insert(thing("gone", code="expired", expires_at=after(60)))
    await records.insert(thing("elsewhere", UMBRELLA, name="free"))
    clock.advance(timedelta(minutes=2))

    inserted = await records.insert_all(
        [
            thing("there", name="other"),
            thing("1", name="taken"),
            thing("2", code="expired"),
            thing("3", name="free"),
            thing("4", name="free"),
        ]
    )

    assert ids(inserted) == ["3"]
    assert await records.insert_all([]) == []


async def test_records_are_found_by_any_of_several_texts(records: Records[Thing]) -> None:
    for number in range(3):
        await records.insert(thing(f"{number}", name=f"n{number}"))
    await records.insert(thing("other", UMBRELLA, name="n0"))

    found = await records.find_any(ACME, "name", ["n2", "n0", "n0", "", "none", "\0"])

    assert ids(found) == ["0", "2"]
    assert await records.find_any(ACME, "name", []) == []


async def test_records_of_a_tenant_are_removed_some_at_a_time(records: Records[Thing]) -> None:
    for number in range(3):
        await records.insert(thing(f"{number}", owner="o"))
    other = await records.insert(thing(tenant_id=UMBRELLA, owner="o"))

    assert [await records.remove_some(ACME, most=2) for _ in range(3)] == [2, 1, 0]
    assert await records.find(UMBRELLA, "owner", "o") == [other]
    assert await records.find(ACME, "owner", "o") == []


async def test_records_are_removed_only_while_a_condition_holds(records: Records[Thing]) -> None:
    await records.insert(thing("one", owner="o"))
    await records.insert(thing("condition", UMBRELLA, owner=""))
    condition = Condition(THINGS, UMBRELLA, "condition", "owner")

    assert await records.remove_some(ACME, most=2, condition=condition) == 0
    assert await records.remove(ACME, "owner", "o", condition=condition) == 0
    (kept,) = await records.page(UMBRELLA)
    await records.replace(replace(kept, owner="holds"))
    assert await records.remove_some(ACME, most=2, condition=condition) == 1
    assert await records.remove(UMBRELLA, "owner", "holds", condition=condition) == 1


async def test_expired_records_of_all_tenants_are_removed_some_at_a_time(
    records: Records[Thing], clock: VirtualClock
) -> None:
    for tenant_id in (ACME, UMBRELLA):
        await records.insert(thing("ends", tenant_id, expires_at=after(1)))
        await records.insert(thing("stays", tenant_id))
    clock.pin(after(2))

    assert await records.remove_expired(most=1) == 1
    assert await records.remove_expired() == 1
    assert await records.remove_expired() == 0
    assert ids(await records.page(ACME)) == ["stays"]


def test_a_unique_field_holds_one_text(store: RecordStore) -> None:
    with pytest.raises(TypeError, match="one text"):
        store.of(Kind(Thing, "odd", unique=("colours",), owners=()))
