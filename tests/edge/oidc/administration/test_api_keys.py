from dataclasses import replace
from datetime import timedelta

import pytest

from identity.access.api_key import API_KEYS
from server.platform.call import TenantId
from tests.edge.oidc.administration.administrator import Administrator
from tests.identity.deployment import NOON, Deployment

READER = [{"group": "Clients", "access_rights": ["read"]}]


async def test_a_key_does_what_it_has_the_right_to_and_nothing_else(administrator: Administrator) -> None:
    key = await administrator.key("reader", Clients=["read"])

    assert (await key.send("GET", "clients")).status == 200
    assert (await key.send("DELETE", "clients/worker")).status == 403
    assert (await key.send("GET", "blacklist")).status == 403
    assert (await key.send("GET", "api_keys")).status == 403


async def test_a_key_can_ask_whether_it_is_good(administrator: Administrator) -> None:
    key = await administrator.key("reader", Clients=["read"])
    await administrator.key("other")

    assert (await key.send("GET", "api_keys/reader/test")).status == 200
    assert (await key.send("GET", "api_keys/other/test")).status == 401
    assert (await administrator.send("GET", "api_keys/reader/test")).status == 401


async def test_only_a_hash_of_the_secret_is_kept(
    administrator: Administrator, deployment: Deployment
) -> None:
    key = await administrator.key("reader", Clients=["read"])

    (kept,) = await deployment.store.of(API_KEYS).page(TenantId("default"))

    secret = key.authorization.partition("$")[2]
    assert len(secret) == 64
    assert secret not in repr(kept)
    assert secret.encode() not in kept.secret_hash
    assert secret not in await (await administrator.send("GET", "api_keys")).text()


async def test_keys_are_listed_with_their_rights(administrator: Administrator) -> None:
    expires = int(NOON.timestamp()) + 3600
    await administrator.send("POST", "api_keys", {"name": "reader", "access": READER, "exp": expires})

    listed = await (await administrator.send("GET", "api_keys")).json()

    created = int(NOON.timestamp())
    assert listed == {"keys": [{"name": "reader", "created": created, "expires": expires, "access": READER}]}


async def test_a_key_ends_when_it_expires(administrator: Administrator, deployment: Deployment) -> None:
    key = await administrator.key("reader", Clients=["read"])
    expires = int(NOON.timestamp()) + 60
    changed = await administrator.send(
        "PUT", "api_keys/reader", {"name": "reader", "access": READER, "exp": expires}
    )

    deployment.clock.advance(timedelta(seconds=60))

    assert changed.status == 200
    assert (await key.send("GET", "clients")).status == 401


async def test_rights_that_are_taken_back_are_gone_at_once(administrator: Administrator) -> None:
    key = await administrator.key("reader", Clients=["read"])

    await administrator.send("PUT", "api_keys/reader", {"name": "reader", "access": []})

    assert (await key.send("GET", "clients")).status == 403


async def test_a_new_secret_ends_the_one_before(administrator: Administrator) -> None:
    key = await administrator.key("reader", Clients=["read"])

    rotated = await administrator.send("PUT", "api_keys/reader/secret")

    fresh = replace(key, authorization=f"API-Key {await rotated.text()}")
    assert (await key.send("GET", "clients")).status == 401
    assert (await fresh.send("GET", "clients")).status == 200


async def test_a_key_that_is_removed_is_good_no_longer(administrator: Administrator) -> None:
    key = await administrator.key("reader", Clients=["read"])

    removed = await administrator.send("DELETE", "api_keys/reader")

    assert removed.status == 200
    assert (await key.send("GET", "clients")).status == 401
    assert (await administrator.send("DELETE", "api_keys/reader")).status == 404


async def test_no_key_gives_more_than_it_has_or_touches_a_stronger_one(administrator: Administrator) -> None:
    await administrator.key("strong", Users=["read", "delete"])
    key = await administrator.key("keeper", ApiKeys=["read", "create", "update", "delete"], Clients=["read"])
    beyond = [{"group": "Users", "access_rights": ["read"]}]

    refused = [
        await key.send("POST", "api_keys", {"name": "child", "access": beyond}),
        await key.send("PUT", "api_keys/keeper", {"name": "keeper", "access": beyond}),
        await key.send("PUT", "api_keys/strong/secret"),
        await key.send("PUT", "api_keys/strong", {"name": "strong", "access": []}),
        await key.send("DELETE", "api_keys/strong"),
    ]
    given = await key.send("POST", "api_keys", {"name": "child", "access": READER})

    assert [answer.status for answer in refused] == [403] * 5
    assert given.status == 200


@pytest.mark.parametrize(
    "body",
    [
        {"name": "a"},
        {"name": "has space"},
        {"name": "dollar$"},
        {"name": "reader", "exp": int(NOON.timestamp())},
        {"name": "reader", "exp": 2**62},
        {"name": "reader", "access": [{"group": "Everything", "access_rights": ["read"]}]},
        {"name": "reader", "access": [{"group": "Users", "access_rights": ["own"]}]},
    ],
    ids=str,
)
async def test_what_no_key_may_be_is_refused(administrator: Administrator, body: dict[str, object]) -> None:
    answer = await administrator.send("POST", "api_keys", body)

    assert (answer.status, (await answer.json())["error"]) == (400, "BadRequest")


@pytest.mark.parametrize("text", ["reader$", "reader$wrong", "$", "nobody$x", "reader"])
async def test_a_wrong_key_is_nobodys(administrator: Administrator, text: str) -> None:
    await administrator.key("reader", Clients=["read"])

    stranger = replace(administrator, authorization=f"API-Key {text}")

    assert (await stranger.send("GET", "clients")).status == 401


async def test_a_key_of_another_tenant_is_nobodys(administrator: Administrator) -> None:
    key = await administrator.key("reader", Clients=["read"])

    assert (await key.send("GET", "acme/clients")).status == 401
