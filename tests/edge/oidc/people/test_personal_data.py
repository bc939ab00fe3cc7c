"""The document with everything that is stored about one person, over HTTP."""

from dataclasses import replace

import pytest

from identity.directory.user import USERS
from identity.foundation.events.event import EVENTS, Event, milliseconds_of, position_at
from identity.foundation.events.kinds import EventType, Level
from tests.edge.oidc.people.provider import Administrator
from tests.identity.administration.personal_data.records import DEFAULT, user
from tests.identity.deployment import NOON

ADA = replace(user("ada"), registration=None)
NOON_SECONDS = int(NOON.timestamp())


async def test_the_document_has_the_sections_of_the_person(admin: Administrator) -> None:
    await admin.deployment.store.of(USERS).insert(ADA)

    response = await admin.send("GET", f"/users/{ADA.id}/personal_data")
    document = await response.json()

    assert response.headers["Content-Disposition"].startswith('attachment; filename="personal-data.json"')
    assert response.headers["Cache-Control"] == "no-store"
    assert {name: document[name] for name in ("format", "user_id", "tenant_id", "exported_at")} == {
        "format": 1,
        "user_id": ADA.id,
        "tenant_id": "default",
        "exported_at": NOON_SECONDS,
    }
    assert list(document["identity"]) == ["user", "event"]
    assert [each["email"] for each in document["identity"]["user"]] == [ADA.email]
    assert document["processes"] is None


async def test_the_document_continues_over_the_pages_of_the_services(admin: Administrator) -> None:
    await admin.deployment.store.of(USERS).insert(ADA)
    at = position_at(milliseconds_of(NOON))
    await admin.deployment.store.of(EVENTS).insert_all(
        [
            Event(
                tenant_id=DEFAULT,
                id=f"{at}{number:08}",
                at=NOON,
                type=EventType.LOGIN_SUCCEEDED,
                level=Level.INFO,
                user_id=ADA.id,
            )
            for number in range(1200)
        ]
    )

    _, document = await admin.ask("GET", f"/users/{ADA.id}/personal_data")

    assert len({each["id"] for each in document["identity"]["event"]}) == 1201


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/users/nobody/personal_data", 404),
        (f"/users/{'x' * 300}/personal_data", 404),
        (f"/users/{ADA.id}/personal_data?include_processes=perhaps", 400),
        (f"/acme/users/{ADA.id}/personal_data", 404),
    ],
)
async def test_a_request_for_no_document_is_refused(admin: Administrator, path: str, status: int) -> None:
    await admin.deployment.store.of(USERS).insert(ADA)

    assert (await admin.send("GET", path)).status == status


async def test_a_key_needs_the_right_to_personal_data(admin: Administrator) -> None:
    await admin.deployment.store.of(USERS).insert(ADA)

    async def status(area: str) -> int:
        access = [{"group": area, "access_rights": ["read"]}]
        created = await admin.send(
            "POST", "/api_keys", json={"name": f"key-{area.lower()}", "access": access}
        )
        key = replace(admin, headers={"Authorization": f"API-Key {await created.text()}"})
        return (await key.send("GET", f"/users/{ADA.id}/personal_data")).status

    assert [await status(area) for area in ("Users", "PersonalData")] == [403, 200]
