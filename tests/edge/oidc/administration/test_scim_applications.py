"""/scim_applications over HTTP; the SCIM server of another tenant is the service of an application."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from identity.foundation.events.news import SETTLES_IN
from tests.edge.oidc.administration.administrator import Administrator
from tests.edge.oidc.provisioning.client import RIGHTS, Client
from tests.identity.deployment import CONFIG, LOOPBACK, Deployment, deployed
from tests.waits import until_so

BASE = "https://app.example.com/scim/v2"
SETTINGS = {"base_uri": BASE, "bearer_token": "s3cret-t0ken"}
PATH = "scim_applications/app"


@pytest.fixture
async def deployment() -> AsyncIterator[Deployment]:
    async with deployed(replace(CONFIG, outgoing=LOOPBACK)) as running:
        yield running


async def add_client(administrator: Administrator, tenant: str = "") -> None:
    body = {"id": "app", "name": "App", "confidential": False, "redirect_uris": []}
    created = await administrator.send("POST", f"{tenant}clients", body)
    assert created.status == 200, await created.text()


async def json(administrator: Administrator, method: str, path: str, body: object = None) -> Any:
    answer = await administrator.send(method, path, body)
    assert answer.status == 200, await answer.text()
    return await answer.json()


async def test_an_application_is_made_read_changed_and_deleted(administrator: Administrator) -> None:
    await add_client(administrator)
    key = await administrator.key("apps", Clients=RIGHTS, Users=["read"])

    made = await json(key, "PUT", PATH, SETTINGS)
    assert made == {
        "id": "app",
        "base_uri": BASE,
        "sync_groups": False,
        "group_sync_prefix": "",
        "enabled": True,
        "created": made["created"],
        "state": "synchronizing",
        "pending": 0,
        "last_error": "",
        "next_attempt": made["created"],
        "refused": 0,
        "refusals": [],
    }
    assert [made["id"]] == [each["id"] for each in await json(key, "GET", "scim_applications")]

    changed = await json(
        key,
        "PUT",
        PATH,
        {"base_uri": BASE, "sync_groups": True, "group_sync_prefix": "app:", "enabled": False},
    )
    assert (changed["sync_groups"], changed["group_sync_prefix"], changed["state"]) == (
        True,
        "app:",
        "disabled",
    )
    assert "next_attempt" not in changed
    assert changed == await json(key, "GET", PATH)
    assert "s3cret-t0ken" not in str([made, changed, await json(key, "GET", "clients/app")])
    assert (await key.send("POST", f"{PATH}/synchronization")).status == 409

    assert (await key.send("DELETE", PATH)).status == 200
    assert (await key.send("GET", PATH)).status == 404
    assert (await key.send("GET", "clients/app")).status == 200


async def test_refusals(administrator: Administrator) -> None:
    await add_client(administrator)
    key = await administrator.key("apps", Clients=RIGHTS, Users=["read"])
    assert (await key.send("PUT", "scim_applications/nobody", SETTINGS)).status == 404
    for wrong in (
        {"base_uri": "https://10.0.0.1/"},
        {"base_uri": "http://app.example.com/"},
        {"base_uri": ""},
        {"bearer_token": ""},
        {"bearer_token": "x" * 4097},
        {"group_sync_prefix": "x" * 65},
        {"more": 1},
    ):
        assert (await key.send("PUT", PATH, {**SETTINGS, **wrong})).status == 400
    await json(key, "PUT", PATH, SETTINGS)
    assert (await key.send("PUT", PATH, {"base_uri": "https://other.example.com/"})).status == 400

    other = await administrator.key("other", Events=["read"])
    requests = {"GET": "", "PUT": "", "DELETE": "", "POST": "/test"}
    for method, path in requests.items():
        body = SETTINGS if method == "PUT" else None
        assert (await other.send(method, f"{PATH}{path}", body)).status == 403
        theirs = await administrator.send(method, f"acme/{PATH}{path}", body)
        assert theirs.status == 404


async def test_a_key_that_may_not_read_users_cannot_send_them_anywhere(administrator: Administrator) -> None:
    await add_client(administrator)
    key = await administrator.key("apps", Clients=RIGHTS)

    assert (await key.send("PUT", PATH, SETTINGS)).status == 403
    assert (await administrator.send("GET", PATH)).status == 404


async def test_the_settings_end_with_the_client(administrator: Administrator) -> None:
    await add_client(administrator)
    await json(administrator, "PUT", PATH, SETTINGS)

    assert (await administrator.send("DELETE", "clients/app")).status == 200
    await add_client(administrator)

    assert (await administrator.send("GET", PATH)).status == 404


async def umbrella(administrator: Administrator) -> tuple[Client, Mapping[str, str]]:
    """Return a client of the SCIM server of another tenant, and settings for it."""
    access = [{"group": "Provisioning", "access_rights": RIGHTS}]
    created = await administrator.send("POST", "umbrella/api_keys", {"name": "acme", "access": access})
    token, http = await created.text(), administrator.http
    base = str(http.make_url("/auth/v1/umbrella/scim/v2"))
    client = Client(http, f"Bearer {token}", "/auth/v1/umbrella")
    return client, {"base_uri": base, "bearer_token": token}


async def test_a_tenant_writes_its_users_and_groups_to_the_scim_server_of_another_one(
    administrator: Administrator, deployment: Deployment
) -> None:
    service, settings = await umbrella(administrator)
    await service.user("anna@example.com", title="Dr")
    await add_client(administrator, "acme/")
    await json(administrator, "POST", "acme/groups", {"group": "staff"})
    user = {"roles": [], "groups": ["staff"], "language": "en", "given_name": "Anna", "family_name": "Smith"}
    anna = await json(administrator, "POST", "acme/users", {**user, "email": "anna@example.com"})
    bob = await json(administrator, "POST", "acme/users", {**user, "email": "bob@example.com"})

    await json(administrator, "PUT", f"acme/{PATH}", {**settings, "sync_groups": True})
    assert await json(administrator, "POST", f"acme/{PATH}/test") == {"works": True, "problem": ""}
    await synchronized(administrator)

    [adopted] = await service.find("Users", f'externalId eq "{anna["id"]}"')
    assert (adopted["userName"], adopted["displayName"]) == ("anna@example.com", "Anna Smith")
    [group] = await service.find("Groups", 'displayName eq "staff"')
    assert len(group["members"]) == 2

    changed = {**user, "email": "anna@example.com", "enabled": True, "email_verified": True, "groups": []}
    await json(administrator, "PUT", f"acme/users/{anna['id']}", {**changed, "given_name": "Ann"})
    await json(
        administrator,
        "PUT",
        f"acme/users/{bob['id']}",
        {**changed, "email": "bob@example.com", "enabled": False},
    )
    deployment.clock.advance(SETTLES_IN * 2)
    await until_so(lambda: given_names(service, "Ann"))
    await until_so(lambda: has_no_members(service))
    [disabled] = await service.find("Users", 'userName eq "bob@example.com"')
    assert disabled["active"] is False

    assert (await administrator.send("DELETE", f"acme/users/{bob['id']}")).status in {200, 204}
    deployment.clock.advance(SETTLES_IN * 2)
    await until_so(lambda: is_gone(service, "bob@example.com"))
    assert [each["userName"] for each in (await service.get("Users"))["Resources"]] == ["anna@example.com"]


async def synchronized(administrator: Administrator) -> None:
    async def is_so() -> bool:
        found = await json(administrator, "GET", f"acme/{PATH}")
        assert found["last_error"] == ""
        return bool(found["state"] == "synchronized")

    await until_so(is_so)


async def given_names(service: Client, name: str) -> bool:
    [anna] = await service.find("Users", 'userName eq "anna@example.com"')
    return bool(anna["name"]["givenName"] == name)


async def has_no_members(service: Client) -> bool:
    [group] = await service.find("Groups", 'displayName eq "staff"')
    return not group.get("members")


async def is_gone(service: Client, name: str) -> bool:
    return not await service.find("Users", f'userName eq "{name}"')


async def test_a_wrong_token_is_shown_by_a_test_and_by_the_state(
    administrator: Administrator, deployment: Deployment
) -> None:
    _, settings = await umbrella(administrator)
    await add_client(administrator, "acme/")
    await json(
        administrator, "POST", "acme/users", {"email": "anna@example.com", "roles": [], "language": "en"}
    )
    await json(administrator, "PUT", f"acme/{PATH}", {**settings, "bearer_token": "wrong"})

    assert await json(administrator, "POST", f"acme/{PATH}/test") == {"works": False, "problem": "HTTP 401"}

    async def is_failing() -> bool:
        return bool((await json(administrator, "GET", f"acme/{PATH}"))["state"] == "failing")

    await until_so(is_failing)
    assert (await json(administrator, "GET", f"acme/{PATH}"))["last_error"] == "HTTP 401"

    await json(administrator, "PUT", f"acme/{PATH}", settings)
    deployment.clock.advance(timedelta(seconds=1))
    await synchronized(administrator)
