"""The erasure of a person in tasks, batch operations and the audit log, in each mode."""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

import asyncpg
import pytest

from server.app import MemoryEngine
from server.bpmn.builder import process
from server.engine.answers import BatchOperationCreated
from server.engine.batch_commands import CreateBatchOperation
from server.engine.batch_operations import BatchAction, BatchOperationType
from server.partition.origin import Origin
from server.platform.call import AUTHORIZATION, Call, Principal, TenantId
from server.platform.channels import LocalChannel
from server.platform.dispatch import Dispatcher
from server.platform.interceptors import interceptors
from server.store.entities import AuditEntry
from server.store.pseudonyms import ErasedPerson
from server.store.searchables import AUDIT_ENTRIES, SEARCHABLES
from tests.server.rpc.caller import EVERYTHING, Caller
from tests.server.rpc.engines import Running
from tests.waits import until_so

ADA = ErasedPerson(
    tenant_id="default",
    names=("adelheid-id", "adelheid", "adelheid@example.com"),
    pseudonym="erased-1234567890abcdef",
)
# A name in a model, or in a variable, belongs to the process and stays.
APPROVAL = process("approval").start().user_task("approve").end()
DEFAULT = frozenset({TenantId("default")})
PRINCIPALS = {
    "Bearer adelheid": Principal("adelheid-id", DEFAULT, EVERYTHING, is_person=True),
    "Bearer adam": Principal("adam-id", DEFAULT, EVERYTHING, is_person=True),
    "Bearer adelheid as adam": Principal(
        "adam-id", DEFAULT, EVERYTHING, is_person=True, acting="adelheid-id"
    ),
    "Bearer adam as adelheid": Principal(
        "adelheid-id", DEFAULT, EVERYTHING, is_person=True, acting="adam-id"
    ),
}
TABLES = """
    SELECT nspname, relname FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
    WHERE nspname IN ('gnomon', 'runtime', 'history') AND relkind = 'r'
"""


def authenticate(call: Call) -> None:
    """Stands at the port of the real one, which has tests of its own."""
    call.principal = PRINCIPALS[call.metadata[AUTHORIZATION]]


@pytest.fixture
def adelheid(running: Running) -> Caller:
    return Caller(
        LocalChannel(Dispatcher(running.engine.servicers, interceptors(running.mode, authenticate))),
        "adelheid",
    )


Texts = Callable[[], Awaitable[Mapping[str, str]]]


@pytest.fixture
def texts(running: Running, request: pytest.FixtureRequest) -> Texts:
    """All that is stored, by the names of the tables."""
    if isinstance(running.engine, MemoryEngine):
        return partial(texts_in_memory, running.engine)
    return partial(texts_in_postgres, request.getfixturevalue("durable_dsn"))


class Reports:
    """The progress that the provider would store."""

    def __init__(self) -> None:
        self.all: list[tuple[str, dict[str, Any]]] = []

    async def __call__(self, position: str, **counts: Any) -> None:
        self.all.append((position, counts))

    @property
    def is_done(self) -> bool:
        return self.all[-1][1] == {"is_done": True}

    def total(self, name: str) -> int:
        return sum(counts.get(name, 0) for _, counts in self.all)


async def texts_in_memory(engine: MemoryEngine) -> Mapping[str, str]:
    pages = [
        await engine.store.search(entity, searchable.query(), tenant_id=ADA.tenant_id)
        for entity, searchable in SEARCHABLES.items()
    ]
    return {entity.__name__: str(page.items) for entity, page in zip(SEARCHABLES, pages, strict=True)}


async def texts_in_postgres(dsn: str) -> Mapping[str, str]:
    connection = await asyncpg.connect(dsn)
    try:
        found = {}
        for schema, name in await connection.fetch(TABLES):
            # Names of our own.
            rows = await connection.fetch(f'SELECT t::text FROM {schema}."{name}" AS t')  # noqa: S608
            found[f"{schema}.{name}"] = "".join(row[0] for row in rows)
        return found
    finally:
        await connection.close()


async def everything_about_ada(adelheid: Caller) -> None:
    """Tasks that are active, completed and of others, entries of all forms, and a batch operation."""
    await adelheid.deploy(APPROVAL)
    for _ in range(4):
        await adelheid.start("approval")
    first, second, third, _ = tasks = (await adelheid("SearchUserTasks")).items
    for task in tasks:
        await adelheid("AssignUserTask", user_task_key=task.user_task_key, assignee="adelheid")
        changes = {"candidate_users": {"names": ["adam", "adelheid"]}}
        await adelheid("UpdateUserTask", user_task_key=task.user_task_key, changeset=changes)
    await adelheid("CompleteUserTask", user_task_key=first.user_task_key)
    await adelheid.signed_in_as("adelheid as adam")("CompleteUserTask", user_task_key=second.user_task_key)
    await adelheid.signed_in_as("adam as adelheid")(
        "AssignUserTask", user_task_key=third.user_task_key, assignee="adam"
    )
    none = {"process_definition_id": {"eq": "none"}}
    await adelheid("CancelProcessInstancesBatchOperation", filter=none)


async def test_no_row_names_an_erased_person(running: Running, adelheid: Caller, texts: Texts) -> None:
    await everything_about_ada(adelheid)
    reports = Reports()

    async def is_erased() -> bool:
        await running.engine.erasure.run(ADA, "", reports)
        found = await texts()
        # Adam is somebody else.
        left = {name: text for name, text in found.items() if "adelheid" in text.replace("adam", "")}
        return reports.is_done and not left

    await until_so(is_erased)
    tasks = (await adelheid.signed_in_as("adam")("SearchUserTasks")).items
    assert [
        (each.assignee, sorted(each.candidate_users))
        for each in tasks
        if not each.HasField("completion_date")
    ] == [
        ("adam", ["adam", ADA.pseudonym]),
        (ADA.pseudonym, ["adam", ADA.pseudonym]),
    ]
    entries = await running.engine.store.search(AuditEntry, AUDIT_ENTRIES.query(), tenant_id=ADA.tenant_id)
    actors = {each.actor_id for each in entries.items}
    assert {
        ADA.pseudonym,
        f"{ADA.pseudonym} as adam-id",
        f"adam-id as {ADA.pseudonym}",
    } <= actors


async def test_an_interrupted_erasure_is_finished(running: Running, adelheid: Caller, texts: Texts) -> None:
    await everything_about_ada(adelheid)

    class Interrupted(Exception):
        pass

    async def interrupt(_: str, **_counts: Any) -> None:
        raise Interrupted

    with pytest.raises(Interrupted):
        await running.engine.erasure.run(ADA, "", interrupt)
    reports = Reports()

    async def is_done() -> bool:
        await running.engine.erasure.run(ADA, "", reports)
        return reports.is_done

    await until_so(is_done)
    found = await texts()
    assert {name for name, text in found.items() if "adelheid" in text.replace("adam", "")} == set()


async def test_an_unfinished_batch_operation_delays_the_end_and_leaves_no_name(
    running: Running, adelheid: Caller, texts: Texts
) -> None:
    origin = Origin(tenant_id=ADA.tenant_id, actor_id=ADA.names[0], request_id="r-1")
    # Its items are still collected.
    create = CreateBatchOperation(ADA.tenant_id, BatchAction(type=BatchOperationType.CANCEL_PROCESS_INSTANCE))
    created = await running.engine.erasure.router.submit(create, origin)
    assert isinstance(created, BatchOperationCreated)
    reports = Reports()

    await running.engine.erasure.run(ADA, "", reports)

    assert not reports.is_done
    await adelheid.signed_in_as("adam")("CancelBatchOperation", batch_operation_key=created.key)

    async def is_done() -> bool:
        await running.engine.erasure.run(ADA, "", reports)
        return reports.is_done

    await until_so(is_done)
    assert [name for name, text in (await texts()).items() if "adelheid" in text] == []
