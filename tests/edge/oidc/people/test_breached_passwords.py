"""A breached password at every place where one is set."""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest
from aiohttp import ClientResponse, web

from identity.directory.config import UsersConfig
from tests.edge.oidc.people.mailed import Mailed, mailed, opened
from tests.edge.oidc.people.provider import BASE
from tests.edge.oidc.people.somebody import PASSWORD
from tests.identity.breaches import BREACHED, Breaches, breaches
from tests.identity.deployment import CONFIG
from tests.people.proof_of_work import solved

FORGOTTEN = "Choose a new password"
USER_SCHEMA = "urn:ietf:params:scim:schemas:core:2.0:User"
GERMAN = {"Accept-Language": "de"}

Door = Callable[[Mailed, str], Awaitable[ClientResponse]]


@pytest.fixture
async def service() -> AsyncIterator[Breaches]:
    async with breaches() as running:
        yield running


@pytest.fixture
async def world(tmp_path: Path, service: Breaches) -> AsyncIterator[Mailed]:
    passwords = replace(CONFIG.passwords, breach_url=service.url)
    users = UsersConfig(registration_enabled=True)
    async with mailed(tmp_path / "letters", passwords=passwords, users=users) as found:
        yield found


async def registration(world: Mailed, password: str) -> ClientResponse:
    challenge = await (await world.admin.http.post(f"{BASE}/pow")).text()
    form = {"email": "eve@example.com", "password": password, "pow": solved(challenge)}
    return await world.admin.http.post(f"{BASE}/users/register", json=form, headers=GERMAN)


async def reset(world: Mailed, password: str) -> ClientResponse:
    await world.ask()
    link = await opened(world.browser(), await world.letters.path(FORGOTTEN))
    sent = {"magic_link_id": link.code, "password": password}
    return await link.http.put(f"{link.person}/reset", json=sent, headers={**link.headers, **GERMAN})


async def account(world: Mailed, password: str) -> ClientResponse:
    alice = await world.signed_in()
    return await alice.http.put(
        f"{BASE}/users/{world.user_id}/self",
        json={"password_current": PASSWORD, "password_new": password},
        headers={"x-csrf-token": alice.csrf_token, **GERMAN},
    )


async def administrator(world: Mailed, password: str) -> ClientResponse:
    body = {"email": "eve@example.com", "language": "en", "roles": [], "password": password}
    headers = {**world.admin.headers, **GERMAN}
    return await world.admin.http.post(f"{BASE}/users", json=body, headers=headers)


@pytest.mark.parametrize("door", [registration, reset, account, administrator])
async def test_a_breached_password_is_refused_at_every_door(world: Mailed, door: Door) -> None:
    refused = await door(world, BREACHED)

    body = await refused.json()
    assert (refused.status, body["reason"]) == (400, "PASSWORD_BREACHED"), body
    assert body["message"].startswith("the password is on a list of passwords that were stolen elsewhere")
    assert body["text"].startswith("Das Passwort ")


async def test_a_breached_password_is_refused_to_provisioning(world: Mailed) -> None:
    access = [{"group": "Provisioning", "access_rights": ["read", "create", "update", "delete"]}]
    key = await world.admin.send("POST", "/api_keys", json={"name": "entra", "access": access})

    refused = await world.admin.http.post(
        f"{BASE}/scim/v2/Users",
        json={"schemas": [USER_SCHEMA], "userName": "eve@example.com", "password": BREACHED},
        headers={"Authorization": f"Bearer {await key.text()}", "Content-Type": "application/scim+json"},
    )

    body = await refused.json()
    assert refused.status == 400, body
    assert "stolen elsewhere" in body["detail"]


async def test_a_form_without_script_says_why_too(world: Mailed) -> None:
    await world.ask()
    link = await opened(world.browser(), await world.letters.path(FORGOTTEN))
    form = {"magic_link_id": link.code, "password": BREACHED, "csrf_token": link.document["csrf_token"]}

    answer = await link.http.post(f"{link.person}/reset", data=form, headers=GERMAN)

    assert "aus einem Datenleck" in await answer.text()


@pytest.mark.parametrize("door", [registration, reset, account, administrator])
async def test_while_the_list_is_out_of_reach_every_door_stays_open(
    world: Mailed, service: Breaches, door: Door
) -> None:
    service.answer = web.Response(status=503)

    accepted = await door(world, BREACHED)

    assert accepted.ok, await accepted.text()
    assert world.admin.deployment.identity.breach_list.unchecked >= 1
