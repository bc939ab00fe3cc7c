"""Searches over records together with rows that have none, as over all of them in one list."""

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial

import pytest

from identity.access.rpc.searches import found_with
from identity.administration.rpc.process_api.labels import built_in_roles, searchable
from identity.directory.labels import ROLES, Role
from identity.foundation.tenants import Tenant
from server.platform.call import TenantId
from server.platform.clock import VirtualClock
from server.platform.query import Condition, Operator, Page, Query, SortKey, Window, evaluate
from server.platform.query.cursor import position_of
from server.platform.records.memory import MemoryRecordStore

ACME = Tenant(TenantId("acme"), "https://id.example.com/acme")
SEARCHABLE = searchable(Role, "role_id")
NAME, KEY = SEARCHABLE.fields["name"], SEARCHABLE.key
ORDERS = [
    (),
    (SortKey(KEY, is_descending=True),),
    (SortKey(NAME),),
    (SortKey(NAME, is_descending=True),),
]
FILTERS = [(), (Condition(KEY, Operator.LIKE, "*a*"),), (Condition(KEY, Operator.EQ, "admin"),)]
# Before, between and behind the built-in roles, also with names that several have.
KEPT = ["aaa", "aab", "admin-2", "clerk", "rauthy_admio", "teller", "zoo"]


@pytest.mark.parametrize("sort", ORDERS)
@pytest.mark.parametrize("clauses", FILTERS)
@pytest.mark.parametrize("number", [0, 1, 3, 7])
async def test_each_page_is_that_of_one_list(
    sort: Sequence[SortKey], clauses: Sequence[Condition], number: int
) -> None:
    records = MemoryRecordStore(VirtualClock(pinned=datetime(2030, 1, 1, tzinfo=UTC))).of(ROLES)
    kept = [
        await records.insert(
            Role(tenant_id=ACME.tenant_id, id=name, name=name, display_name="" if len(name) > 4 else "Same")
        )
        for name in KEPT[:number]
    ]
    everything = sorted((*kept, *built_in_roles(ACME)), key=lambda role: role.name)

    async def both(window: Window) -> tuple[Page[Role], Page[Role]]:
        query = Query(tuple(clauses), SEARCHABLE.order(sort), window)
        found = await found_with(built_in_roles(ACME), query, partial(records.search, ACME.tenant_id))
        return found, evaluate(everything, query)

    for limit in (1, 2, 3, 20):
        for offset in range(len(everything) + 2):
            found, expected = await both(Window(limit=limit, offset=offset))
            assert found == expected
            for cursor in filter(None, (expected.start_cursor, expected.end_cursor)):
                position = position_of(cursor, tuple(clauses), SEARCHABLE.order(sort))
                for window in (Window(limit=limit, after=position), Window(limit=limit, before=position)):
                    found, expected_there = await both(window)
                    assert found == expected_there
