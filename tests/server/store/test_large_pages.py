"""Pages of large rows, which end early: their cursors lead to every row exactly once."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from gnomon.engine.v1 import variable_service_pb2 as pb
from server.engine.keys import Key
from server.platform.call import Call, TenantId
from server.platform.policy import policy_of
from server.platform.query import Clauses, Query, SortKey, Window, equals
from server.platform.query.cursor import position_of
from server.rpc.reads import PAGE_OCTETS, search
from server.rpc.variable import shown_variables
from server.store.entities import (
    AuditEntry,
    AuditResult,
    Entity,
    Form,
    GenericResource,
    MessageSubscription,
    UserTask,
    Variable,
)
from server.store.ports import Batch, Store
from server.store.searchables import MAX_VALUE_CHARACTERS, SEARCHABLES, VARIABLES
from tests.server.store.conftest import NewStore
from tests.server.store.rows import (
    START,
    TENANT,
    batch_operation_item,
    commit,
    decision_instance,
    incident,
    insert,
    job,
    variable,
)

LARGE = "x" * 1_000
BOUND = 2_500
"""Octets of a page: three large rows are more."""

METHOD = pb.DESCRIPTOR.services_by_name["VariableService"].methods_by_name["SearchVariables"]


def user_task(key: int, **values: object) -> UserTask:
    fields: dict[str, object] = {
        "user_task_key": Key(key),
        "tenant_id": TENANT,
        "name": None,
        "element_id": "approve",
        "element_instance_key": Key(3),
        "process_instance_key": Key(9),
        "process_name": None,
        "process_definition_key": Key(7),
        "process_definition_id": "order",
        "process_definition_version": 1,
        "creation_date": START,
        "custom_headers": {},
    }
    return UserTask(**(fields | values))


def subscription(key: int, **values: object) -> MessageSubscription:
    fields: dict[str, object] = {
        "message_subscription_key": Key(key),
        "tenant_id": TENANT,
        "process_definition_key": Key(7),
        "process_definition_id": "order",
        "process_definition_name": None,
        "process_definition_version": 1,
        "element_id": "catch",
        "message_name": "paid",
        "last_updated_date": START,
        "extension_properties": {},
    }
    return MessageSubscription(**(fields | values))


def form(key: int) -> Form:
    return Form(
        form_key=Key(key),
        tenant_id=TENANT,
        form_id="f",
        version=key,
        version_tag=None,
        resource_name="f.form",
        schema=LARGE,
        deployment_key=Key(1),
        deployment_time=START,
    )


def resource(key: int) -> GenericResource:
    return GenericResource(
        resource_key=Key(key),
        tenant_id=TENANT,
        resource_id="r",
        version=key,
        version_tag=None,
        resource_name="r.rpa",
        content=LARGE,
        deployment_key=Key(1),
        deployment_time=START,
    )


def seven(kind: str) -> Sequence[Entity]:
    return {
        "values of variables": [variable(key, 9, LARGE) for key in range(1, 8)],
        "results of decisions": [decision_instance(key, result=LARGE) for key in range(1, 8)],
        "inputs of decisions": [decision_instance(key, inputs=LARGE) for key in range(1, 8)],
        "messages of incidents": [incident(key, 9, error_message=LARGE) for key in range(1, 8)],
        "messages of jobs": [job(key, 9, error_message=LARGE) for key in range(1, 8)],
        "headers of jobs": [job(key, 9, custom_headers={"h": LARGE}) for key in range(1, 8)],
        "groups of user tasks": [user_task(key, candidate_groups=(LARGE,)) for key in range(1, 8)],
        "names of user tasks": [user_task(key, name=LARGE) for key in range(1, 8)],
        "correlation keys": [subscription(key, correlation_key=LARGE) for key in range(1, 8)],
        "messages of batch items": [batch_operation_item(key, 1, error_message=LARGE) for key in range(1, 8)],
        "forms": [form(key) for key in range(1, 8)],
        "resources": [resource(key) for key in range(1, 8)],
    }[kind]


def keys_of(rows: Sequence[Entity]) -> list[int]:
    searchable = SEARCHABLES[type(rows[0])]
    return [getattr(row, searchable.key.name) for row in rows]


async def pages(store: Store, entity: type[Entity], query: Query, *, is_backwards: bool) -> list[list[int]]:
    """The keys on each page, from the first page or the last one."""
    found: list[list[int]] = []
    while rows := (page := await store.search(entity, query, tenant_id=TENANT)).items:
        found.append(keys_of(rows))
        assert page.total == 7
        cursor = page.start_cursor if is_backwards else page.end_cursor
        position = position_of(cursor or "", query.clauses, query.sort)
        place = {"before": position} if is_backwards else {"after": position}
        query = replace(query, window=Window(limit=5, **place))
    return found


@pytest.mark.parametrize(
    "kind",
    [
        "values of variables",
        "results of decisions",
        "inputs of decisions",
        "messages of incidents",
        "messages of jobs",
        "headers of jobs",
        "groups of user tasks",
        "names of user tasks",
        "correlation keys",
        "messages of batch items",
        "forms",
        "resources",
    ],
)
async def test_a_page_ends_before_its_rows_are_too_large(store: Store, kind: str) -> None:
    rows = seven(kind)
    await insert(store, *rows)
    query = replace(SEARCHABLES[type(rows[0])].query(window=Window(limit=5)), most_octets=BOUND)

    found = await pages(store, type(rows[0]), query, is_backwards=False)

    assert [key for page in found for key in page] == list(range(1, 8))
    assert all(1 <= len(page) <= 3 for page in found)


async def test_a_page_of_large_audit_entries_ends_early(store: Store) -> None:
    entries = [
        AuditEntry(
            tenant_id=TENANT,
            timestamp=START,
            operation_type="ASSIGN",
            result=AuditResult.FAIL,
            actor_type="USER",
            actor_id="ann",
            entity_type="USER_TASK",
            entity_key=Key(number),
            process_instance_key=Key(9),
            detail=LARGE,
        )
        for number in range(7)
    ]
    await commit(store, Batch(audit=entries))
    query = replace(SEARCHABLES[AuditEntry].query(window=Window(limit=5)), most_octets=BOUND)

    found = await pages(store, AuditEntry, query, is_backwards=False)

    assert [len(page) for page in found] == [3, 3, 1]


@pytest.mark.parametrize(
    "clauses",
    [pytest.param((), id="all"), pytest.param((equals(VARIABLES, "scope_key", 9),), id="of a scope")],
)
@pytest.mark.parametrize("is_descending", [False, True])
async def test_a_walk_in_both_directions_finds_every_row_once(
    store: Store, clauses: Clauses, *, is_descending: bool
) -> None:
    await insert(store, *(variable(key, 9, LARGE if key % 3 else "1", name=f"v{key}") for key in range(1, 8)))
    sort = (SortKey(VARIABLES.fields["name"], is_descending),)
    query = VARIABLES.query(*clauses, sort=sort, window=Window(limit=5))
    query = replace(query, most_octets=BOUND)
    expected = sorted(range(1, 8), reverse=is_descending)

    onwards = await pages(store, Variable, query, is_backwards=False)
    last = position_of(
        (await store.search(Variable, replace(query, window=Window()), tenant_id=TENANT)).end_cursor or "",
        query.clauses,
        query.sort,
    )
    backwards = await pages(
        store,
        Variable,
        replace(query, window=Window(limit=5, before=(f"v{0 if is_descending else 9}", *last[1:]))),
        is_backwards=True,
    )

    assert [key for page in onwards for key in page] == expected
    assert [key for page in reversed(backwards) for key in page] == expected
    assert max(map(len, [*onwards, *backwards])) < 5


async def test_a_row_beyond_the_bound_is_a_page_of_its_own(store: Store) -> None:
    await insert(store, *(variable(key, 9, LARGE) for key in range(1, 8)))
    query = replace(VARIABLES.query(window=Window(limit=5)), most_octets=10)

    found = await pages(store, Variable, query, is_backwards=False)

    assert [[key] for key in range(1, 8)] == found


@pytest.fixture
def call() -> Call:
    return Call(policy_of(METHOD), pb.SearchVariablesRequest(), {}, tenant_id=TenantId(TENANT))


async def test_whole_values_come_on_several_pages(store: Store, call: Call) -> None:
    value = "1" * (PAGE_OCTETS // 3)
    await insert(store, *(variable(key, 9, value) for key in range(1, 9)))
    request = pb.SearchVariablesRequest(truncate_values=False)
    found: list[int] = []

    while (
        response := await search(
            store,
            VARIABLES,
            request,
            pb.SearchVariablesResponse,
            call,
            shown=shown_variables(request),
        )
    ).items:
        found += [item.variable_key for item in response.items]
        assert len(response.items) <= 3
        assert {item.value for item in response.items} == {value}
        assert response.page.total_items == 8
        request.page.after = response.page.end_cursor

    assert found == list(range(1, 9))


async def test_truncated_values_share_one_page(store: Store, call: Call) -> None:
    values = ["1" * PAGE_OCTETS, "ä" * (MAX_VALUE_CHARACTERS + 1), "ä" * MAX_VALUE_CHARACTERS, '"a"']
    await insert(store, *(variable(key, 9, value) for key, value in enumerate(values, 1)))
    request = pb.SearchVariablesRequest()

    response = await search(
        store, VARIABLES, request, pb.SearchVariablesResponse, call, shown=shown_variables(request)
    )

    assert [value[:MAX_VALUE_CHARACTERS] for value in values] == [item.value for item in response.items]
    assert [item.is_truncated for item in response.items] == [True, True, False, False]


async def test_the_database_sends_only_the_characters_that_are_shown(in_postgres: NewStore) -> None:
    async with in_postgres() as store:
        await insert(store, variable(1, 9, "ä" * 100_000), variable(2, 9, "1"))
        query = replace(VARIABLES.query(window=Window(limit=5)), cut={"value": 10})

        page = await store.search(Variable, query, tenant_id=TENANT)

        assert [row.value for row in page.items] == ["ä" * 10, "1"]
