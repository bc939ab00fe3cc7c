from collections.abc import Sequence

import pytest

from server.platform.call import TenantId
from server.platform.errors import Unavailable
from server.platform.records import Records, every
from server.platform.records.memory import MemoryRecords
from tests.server.platform.records.things import ACME, THINGS, UMBRELLA, Thing, clock, thing

# More than one page, and not a whole number of them.
IDS = [f"{number:03}" for number in range(750)]


class Endless(MemoryRecords[Thing]):
    """Somebody adds records as fast as they are read."""

    async def page(self, tenant_id: TenantId, *, after: str = "", most: int = 100) -> Sequence[Thing]:
        return [thing(after, tenant_id=tenant_id)] * most


@pytest.fixture
async def many(records: Records[Thing]) -> Records[Thing]:
    for record_id in IDS:
        await records.insert(thing(record_id))
    await records.insert(thing("other", tenant_id=UMBRELLA))
    return records


async def test_every_record_of_a_tenant_comes_once_in_the_order_of_ids(many: Records[Thing]) -> None:
    assert [record.id async for record in every(many, ACME)] == IDS


async def test_those_behind_an_id_come(many: Records[Thing]) -> None:
    assert [record.id async for record in every(many, ACME, after="620")] == IDS[621:]


async def test_records_may_be_removed_while_they_come(many: Records[Thing]) -> None:
    async for record in every(many, ACME):
        await many.take(ACME, record.id)

    assert await many.page(ACME) == []


async def test_what_does_not_end_is_given_up() -> None:
    with pytest.raises(Unavailable, match="1000000"):
        async for _ in every(Endless(THINGS, clock()), ACME):
            pass
