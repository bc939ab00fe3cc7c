"""The export of everything that is stored about one person."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from gnomon.identity.v1 import personal_data_service_pb2 as pb
from gnomon.identity.v1.caller_pb2 import Caller
from gnomon.identity.v1.personal_data_service_pb2_grpc import PersonalDataServiceStub
from identity.access.api_key import API_KEYS, Access
from identity.access.callers import AdministrationArea, Right
from identity.administration.personal_data.exports import MOST_OCTETS, MOST_READ, MOST_RECORDS
from identity.administration.personal_data.sections import LEFT_OUT, names_person
from identity.directory.terms_of_use.terms import TERMS_ACCEPTANCES, TermsAcceptance
from identity.directory.user import USERS
from identity.foundation.events.event import EVENTS, Event, EventActor, milliseconds_of, position_at
from identity.foundation.events.kinds import EventType, Level
from identity.records import KINDS, PERSONAL_SECTIONS
from server.platform.channels.failure import CallError
from server.platform.errors import InvalidArgument, NotFound, PermissionDenied, Unauthenticated
from tests.identity.administration.personal_data.records import DEFAULT, SECRET, keep_everything, user
from tests.identity.deployment import NOON, WORKER_SECRET, Deployment

ADA, BOB = user("ada"), user("bob")

Export = Mapping[str, Sequence[dict[str, Any]]]


async def caller(deployment: Deployment, **fields: object) -> Caller:
    return Caller(access_token=(await deployment.issue(**fields)).access_token)


async def pages(
    deployment: Deployment, user_id: str, by: Caller | None = None
) -> list[pb.ExportPersonalDataResponse]:
    asked = pb.ExportPersonalDataRequest(caller=by or await caller(deployment), user_id=user_id)
    found = []
    while True:
        answer = await PersonalDataServiceStub(deployment.channel).ExportPersonalData(asked)
        found.append(answer)
        if not answer.continuation_token:
            return found
        asked.continuation_token = answer.continuation_token


async def exported(deployment: Deployment, user_id: str) -> Export:
    found = defaultdict(list)
    for page in await pages(deployment, user_id):
        for record in page.records:
            found[record.section].append(json.loads(record.content))
    return found


async def refusal(deployment: Deployment, by: Caller, **fields: str) -> type[Exception]:
    asked = pb.ExportPersonalDataRequest(**{"caller": by, "user_id": ADA.id, **fields})
    with pytest.raises(CallError) as caught:
        await PersonalDataServiceStub(deployment.channel).ExportPersonalData(asked)
    return type(caught.value.error)


def event(number: int, **fields: Any) -> Event:
    at = NOON - timedelta(days=1) + timedelta(milliseconds=number)
    return Event(
        **{
            "tenant_id": DEFAULT,
            "id": f"{position_at(milliseconds_of(at))}{number:08}",
            "at": at,
            "type": EventType.LOGIN_SUCCEEDED,
            "level": Level.INFO,
            **fields,
        }
    )


def test_every_kind_of_record_that_names_a_person_is_exported_or_left_out_for_a_reason() -> None:
    exported = {section.kind.name for section in PERSONAL_SECTIONS}

    assert {kind.name for kind in KINDS if names_person(kind)} <= exported | LEFT_OUT.keys()
    assert LEFT_OUT.keys() <= {kind.name for kind in KINDS} - exported


async def test_the_export_has_a_record_of_every_kind_and_nothing_of_others(provider: Deployment) -> None:
    for person in (ADA, BOB):
        await provider.store.of(USERS).insert(person)
        await keep_everything(provider.store, person, PERSONAL_SECTIONS)

    found = await exported(provider, ADA.id)

    text = json.dumps(found)
    counts = {section: len(records) for section, records in found.items()}
    # The export itself is an event, too.
    assert counts == {section.name: 1 for section in PERSONAL_SECTIONS} | {"event": 2}
    assert (found["user"][0]["email"], found["user"][0]["values"]) == (ADA.email, dict(ADA.values))
    assert "bob" not in text
    assert "somebody" not in text


async def test_the_export_has_no_secrets_and_no_hashes(provider: Deployment) -> None:
    await provider.store.of(USERS).insert(ADA)
    await keep_everything(provider.store, ADA, PERSONAL_SECTIONS)

    found = await exported(provider, ADA.id)

    assert found["image"][0].pop("content")
    secrets = {
        (section, field)
        for section, records in found.items()
        for record in records
        for field, value in record.items()
        if SECRET in json.dumps(value)
    }
    assert secrets == set()


async def test_events_of_the_person_come_without_the_other_people_in_them(provider: Deployment) -> None:
    bob = EventActor("user", BOB.id, BOB.email)
    ada = EventActor("user", ADA.id, ADA.email)
    await provider.store.of(USERS).insert(ADA)
    for each in (
        event(1, user_id=ADA.id, actor=bob, ip="192.0.2.1", text="changed"),
        event(2, user_id=BOB.id, actor=ada, ip="192.0.2.2", text=BOB.email),
        event(3, text=f"user {ADA.email.upper()} failed"),
        event(4, text="user xada@example.com failed"),
        event(5, text="user ada@example.com.invalid failed"),
        event(6, user_id=BOB.id),
    ):
        await provider.store.of(EVENTS).insert(each)

    *found, of_export = (await exported(provider, ADA.id))["event"]

    assert [(each["user_id"], each["actor"], each["ip"], each["text"]) for each in found] == [
        (ADA.id, None, None, "changed"),
        (None, {"kind": "user", "id": ADA.id, "name": ADA.email}, "192.0.2.2", None),
        (None, None, None, "user ADA@EXAMPLE.COM failed"),
    ]
    assert of_export["text"] == "export of personal data"


async def test_each_page_reads_and_returns_a_bounded_number_of_records(provider: Deployment) -> None:
    await provider.store.of(USERS).insert(ADA)
    await provider.store.of(EVENTS).insert_all(
        [event(number, user_id=ADA.id if number % 4 == 0 else BOB.id) for number in range(4 * MOST_RECORDS)]
    )
    await provider.store.of(EVENTS).insert_all(
        [event(number, user_id=BOB.id) for number in range(4 * MOST_RECORDS, 2 * MOST_READ)]
    )

    found = await pages(provider, ADA.id)

    sections = [record.section for page in found for record in page.records]
    assert sections.count("event") == MOST_RECORDS + 1
    assert max(len(page.records) for page in found) == MOST_RECORDS
    assert len(found) == 3


async def test_a_page_ends_before_it_becomes_too_large(provider: Deployment) -> None:
    large = MOST_OCTETS * 2 // 3
    await provider.store.of(USERS).insert(replace(ADA, attributes={"photo": "x" * large}))
    for number in range(3):
        await provider.store.of(TERMS_ACCEPTANCES).insert(
            TermsAcceptance(
                tenant_id=DEFAULT,
                id=str(number),
                user_id=ADA.user_id,
                version="x" * large,
                accepted_at=NOON,
                client_id="",
            )
        )

    found = await pages(provider, ADA.id)

    octets = [sum(len(record.content) for record in page.records) for page in found]
    assert len(found) == 4
    assert max(octets) < MOST_OCTETS


async def test_who_may_export_whose_data(provider: Deployment) -> None:
    await provider.store.of(USERS).insert(ADA)
    worker = await caller(provider, client_id="worker", client_secret=WORKER_SECRET)
    service = await caller(provider)

    assert await refusal(provider, worker) is PermissionDenied
    assert await refusal(provider, Caller(access_token="unknown")) is Unauthenticated
    assert await refusal(provider, service, user_id="nobody") is NotFound
    assert await refusal(provider, service, tenant_id="acme") is NotFound


@pytest.mark.parametrize("token", ["x", "OTk6", "LTE6", "eA", "MTIzNDU2Nzg5MDEyMzQ1Njc4OTA6", "wrI6"])
async def test_a_text_that_is_no_continuation_token_is_refused(provider: Deployment, token: str) -> None:
    await provider.store.of(USERS).insert(ADA)

    assert await refusal(provider, await caller(provider), continuation_token=token) is InvalidArgument


def test_keys_of_the_previous_version_ignore_the_right_to_personal_data() -> None:
    key = API_KEYS.type(tenant_id=DEFAULT, id="robot", secret_hash=b"", created_at=NOON)

    changed = key.with_access([_access(AdministrationArea.PERSONAL_DATA), _access(AdministrationArea.USERS)])

    assert [each.area for each in changed.access] == [AdministrationArea.USERS]
    assert changed.has(AdministrationArea.PERSONAL_DATA, Right.READ)


def _access(area: AdministrationArea) -> Any:
    return Access(area, frozenset({Right.READ}))
