"""The erasure of one person in the provider."""

from dataclasses import replace
from datetime import timedelta

import asyncpg
import pytest

from gnomon.identity.v1 import personal_data_service_pb2 as pb
from gnomon.identity.v1.caller_pb2 import Caller
from gnomon.identity.v1.personal_data_service_pb2_grpc import PersonalDataServiceStub
from identity.administration.personal_data.erasure import ERASURES, Erasure
from identity.administration.personal_data.erasures import SETTLED_AFTER
from identity.clients.scim_applications.application import SCIM_RESOURCES
from identity.directory.user import USERS, User
from identity.directory.version import DIRECTORY_VERSIONS
from identity.foundation.events.event import EVENTS, EventActor
from identity.records import KINDS, PERSONAL_SECTIONS
from server.platform.channels.failure import CallError
from server.platform.errors import NotFound, PermissionDenied
from server.platform.records import REMOVALS, RecordStore
from tests.identity.administration.personal_data.records import DEFAULT, keep_everything, user
from tests.identity.administration.personal_data.test_export import caller, event
from tests.identity.deployment import NOON, WORKER_SECRET, Deployment
from tests.waits import until_so

ADA, BOB = user("ada"), user("bob")
IP = "192.0.2.77"

TABLES = """
    SELECT nspname, relname FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
    WHERE nspname IN ('gnomon', 'runtime', 'history', 'identity') AND relkind = 'r'
"""


async def erase(deployment: Deployment, person: User = ADA, by: Caller | None = None) -> pb.Erasure:
    asked = pb.EraseUserRequest(caller=by or await caller(deployment), user_id=person.id)
    return (await PersonalDataServiceStub(deployment.channel).EraseUser(asked)).erasure


async def erasure(deployment: Deployment, pseudonym: str) -> pb.Erasure:
    asked = pb.GetErasureRequest(caller=await caller(deployment), pseudonym=pseudonym)
    return (await PersonalDataServiceStub(deployment.channel).GetErasure(asked)).erasure


async def finished_here(deployment: Deployment, pseudonym: str) -> Erasure:
    """Wait for the part of the provider, a while after the request."""
    records = deployment.store.of(ERASURES)
    deployment.clock.advance(SETTLED_AFTER)

    async def is_done() -> bool:
        found = await records.get(DEFAULT, pseudonym)
        if found is not None and found.is_done_here:
            return True
        # After a failure, as of a busy database, another process continues when the claim has ended.
        deployment.clock.advance(timedelta(minutes=1))
        return False

    await until_so(is_done)
    found = await records.get(DEFAULT, pseudonym)
    assert found is not None
    return found


async def finished_in_engine(deployment: Deployment) -> pb.ClaimErasureResponse:
    """Stand in for the engine, which has nothing to do."""
    stub = PersonalDataServiceStub(deployment.channel)
    claimed = await stub.ClaimErasure(pb.ClaimErasureRequest())
    await stub.ReportErasure(
        pb.ReportErasureRequest(
            tenant_id=claimed.tenant_id, pseudonym=claimed.pseudonym, position="7", rows=3, is_done=True
        )
    )
    return claimed


async def texts(store: RecordStore, database: str | None) -> dict[str, str]:
    """Return the text of everything that is stored, by kind or table."""
    if database is None:
        return {kind.name: repr(await store.of(kind).page(DEFAULT, most=10_000)) for kind in KINDS}
    connection = await asyncpg.connect(database)
    try:
        found = {}
        for schema, name in await connection.fetch(TABLES):
            # Names of our own.
            rows = await connection.fetch(f'SELECT t::text FROM {schema}."{name}" AS t')  # noqa: S608
            found[name] = "".join(row[0] for row in rows)
        return found
    finally:
        await connection.close()


async def test_nothing_of_the_person_is_left_but_what_applications_still_have(
    provider: Deployment, database: str | None
) -> None:
    for person in (ADA, BOB):
        await provider.store.of(USERS).insert(person)
        await keep_everything(provider.store, person, PERSONAL_SECTIONS)
    bob, ada = EventActor("user", BOB.id, BOB.email), EventActor("user", ADA.id, ADA.email)
    for each in (
        event(1, user_id=ADA.id, actor=bob, ip=IP, text=f"user {ADA.email}"),
        event(2, user_id=BOB.id, actor=ada, ip=IP, text=BOB.email),
        event(3, ip=IP, text=f"user {ADA.email.upper()} failed"),
        event(4, text="user xada@example.com failed"),
    ):
        await provider.store.of(EVENTS).insert(each)

    begun = await erase(provider)
    await finished_here(provider, begun.pseudonym)
    await finished_in_engine(provider)

    stored = await texts(provider.store, database)
    left = {
        name
        for name, text in stored.items()
        if any(marker in text.replace("xada@example.com", "") for marker in (ADA.id, ADA.email, IP))
    }
    # The last two have the random id alone, until all nodes know of the removal.
    assert left - {REMOVALS.name, DIRECTORY_VERSIONS.name} == {SCIM_RESOURCES.name}
    assert not any(
        marker in stored[kind.name] for kind in (REMOVALS, DIRECTORY_VERSIONS) for marker in (ADA.email, IP)
    )
    assert all(BOB.id in stored[section.kind.name] for section in PERSONAL_SECTIONS)
    assert begun.pseudonym in stored[EVENTS.name]


async def test_the_report_says_what_was_done_and_what_stays(provider: Deployment) -> None:
    await provider.store.of(USERS).insert(ADA)
    await provider.store.of(EVENTS).insert_all([event(number, user_id=ADA.id) for number in range(1200)])

    begun = await erase(provider)
    await finished_here(provider, begun.pseudonym)
    running = await erasure(provider, begun.pseudonym)
    claimed = await finished_in_engine(provider)
    done = await erasure(provider, begun.pseudonym)

    assert (begun.is_completed, running.is_completed, done.is_completed) == (False, False, True)
    assert begun.asked_at == int(NOON.timestamp())
    assert begun.asked_by == "client service"
    assert done.rewritten_events >= 1200
    assert done.rewritten_rows == 3
    assert len(done.kept) == 4
    assert (claimed.tenant_id, list(claimed.names)) == (DEFAULT, [ADA.id, "ada", ADA.email])


async def test_the_event_of_an_erasure_has_the_pseudonym_and_the_caller(provider: Deployment) -> None:
    await provider.store.of(USERS).insert(ADA)

    begun = await erase(provider)
    await finished_here(provider, begun.pseudonym)

    found = [each for each in await provider.store.of(EVENTS).page(DEFAULT) if each.text]
    told = {each.text: (each.user_id, each.actor and each.actor.id) for each in found}
    assert told == {
        f"user {begun.pseudonym}": (begun.pseudonym, "service"),
        f"erasure {begun.pseudonym}": (begun.pseudonym, "service"),
    }


async def test_an_erasure_that_ended_before_the_deletion_of_the_account_is_finished(
    provider: Deployment,
) -> None:
    await provider.store.of(USERS).insert(ADA)
    await keep_everything(provider.store, ADA, PERSONAL_SECTIONS)
    await provider.store.of(ERASURES).insert(
        Erasure(
            tenant_id=DEFAULT,
            id="erased-x",
            user_id=ADA.id,
            names=ADA.names,
            asked_by="user admin",
            asked_at=NOON,
            next_at=NOON,
        )
    )

    await finished_here(provider, "erased-x")
    await finished_in_engine(provider)

    assert await provider.store.of(USERS).get(DEFAULT, ADA.id) is None
    assert (await erasure(provider, "erased-x")).is_completed


async def test_an_erasure_that_ended_between_two_slices_continues_there(provider: Deployment) -> None:
    await provider.store.of(EVENTS).insert_all([event(number, user_id=ADA.id) for number in range(3)])
    first, *_ = await provider.store.of(EVENTS).page(DEFAULT)
    await provider.store.of(EVENTS).replace(replace(first, user_id="erased-x"))
    await provider.store.of(ERASURES).insert(
        Erasure(
            tenant_id=DEFAULT,
            id="erased-x",
            user_id=ADA.id,
            names=ADA.names,
            asked_by="user admin",
            asked_at=NOON,
            next_at=NOON,
            events_after=first.id,
            rewritten_events=1,
        )
    )

    found = await finished_here(provider, "erased-x")

    assert {each.user_id for each in await provider.store.of(EVENTS).page(DEFAULT)} == {"erased-x"}
    assert found.rewritten_events == 3


async def test_an_admitted_part_of_the_engine_is_claimed_once(provider: Deployment) -> None:
    await provider.store.of(USERS).insert(ADA)
    stub = PersonalDataServiceStub(provider.channel)
    begun = await erase(provider)

    early = await stub.ClaimErasure(pb.ClaimErasureRequest())
    await finished_here(provider, begun.pseudonym)
    first = await stub.ClaimErasure(pb.ClaimErasureRequest())
    second = await stub.ClaimErasure(pb.ClaimErasureRequest())
    provider.clock.advance(timedelta(minutes=2))
    third = await stub.ClaimErasure(pb.ClaimErasureRequest())

    assert [each.pseudonym for each in (early, first, second, third)] == [
        "",
        begun.pseudonym,
        "",
        begun.pseudonym,
    ]


async def refusal(deployment: Deployment, by: Caller, person: User = ADA) -> type[Exception]:
    with pytest.raises(CallError) as caught:
        await erase(deployment, person, by)
    return type(caught.value.error)


async def test_a_refused_erasure_leaves_the_account(provider: Deployment) -> None:
    await provider.store.of(USERS).insert(ADA)
    worker = await caller(provider, client_id="worker", client_secret=WORKER_SECRET)

    assert await refusal(provider, worker) is PermissionDenied
    assert await refusal(provider, await caller(provider), BOB) is NotFound
    assert await provider.store.of(USERS).get(DEFAULT, ADA.id) is not None
    assert await provider.store.of(ERASURES).page(DEFAULT) == []
