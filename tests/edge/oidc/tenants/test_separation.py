"""Separation of tenants: entities of one have no effect in another."""

from dataclasses import replace

import grpc
import pytest
import requests
from aiohttp import encode_basic_auth

from gnomon.identity.v1 import directory_service_pb2
from identity.crypto.jose.algorithms import SigningAlgorithm
from identity.directory.client import CLIENTS
from identity.foundation.events.event import EVENTS
from identity.foundation.events.kinds import EventType
from identity.foundation.vocabulary import Permission
from server.platform.call import TenantId
from server.platform.channels import error_of
from server.platform.errors import NotFound
from tests.edge.oidc.tenants.world import EMAIL, World, directory_of
from tests.identity.deployment import SECRET, WORKER_SECRET
from tests.people.person import SECONDS, Page, Person
from tests.people.proof_of_work import solved

ACME = TenantId("acme")


async def populate(provider: World) -> None:
    """Create the same app and the same e-mail address in both tenants."""
    for tenant in ("default", "acme"):
        await provider.add_user(tenant, f"{tenant}-alice")
        await provider.add_app(tenant)


@pytest.mark.parametrize("path", ["oidc/userinfo", "oidc/forward_auth"])
async def test_t10_a_token_of_another_tenant_is_refused(provider: World, path: str) -> None:
    await populate(provider)
    token = await provider.access_token("acme")

    answers = [(await provider.with_token(path, token, tenant)).status for tenant in ("acme", "", "umbrella")]

    assert answers == [200, 401, 401]


async def test_t10_a_token_of_another_tenant_is_inactive(provider: World) -> None:
    await populate(provider)
    token = await provider.access_token("acme")

    assert [await provider.is_active(token, tenant) for tenant in ("acme", "", "umbrella")] == [
        True,
        False,
        False,
    ]


async def test_t11_a_client_of_another_tenant_is_shown_an_error_and_sent_nowhere(provider: World) -> None:
    await provider.add_app("acme")

    answer = await provider.http.get(provider.authorization(), allow_redirects=False)

    assert (answer.status, answer.content_type) == (400, "text/html")
    assert "Location" not in answer.headers


async def test_t12_a_code_of_another_tenant_is_redeemed_nowhere_else(provider: World) -> None:
    await populate(provider)
    code = await provider.code("acme")

    elsewhere, at_home = await provider.redeem(code), await provider.redeem(code, "acme")

    assert elsewhere["error"] == "invalid_grant"
    assert "access_token" in at_home


async def test_t13_a_session_of_another_tenant_is_none(provider: World) -> None:
    await populate(provider)

    def statuses(person: Person) -> list[int]:
        person.sign_in(provider.authorization("acme"))
        [session] = [cookie for cookie in person.browser.cookies if cookie.name == "GnomonSession.acme"]
        assert session.value is not None
        stolen = {"GnomonSession": session.value, "GnomonSession.umbrella": session.value}
        return [
            requests.get(
                f"{provider.issuer(tenant)}oidc/sessioninfo",
                cookies={session.name: session.value, **stolen},
                timeout=SECONDS,
            ).status_code
            for tenant in ("acme", "", "umbrella")
        ]

    assert await provider.person("acme", statuses) == [200, 401, 401]


async def test_t14_one_address_in_two_tenants_is_two_people(provider: World) -> None:
    await populate(provider)

    subjects = [
        (
            await (
                await provider.with_token("oidc/userinfo", await provider.access_token(tenant), tenant)
            ).json()
        )
        for tenant in ("", "acme")
    ]

    assert [claims["sub"] for claims in subjects] == ["default-alice", "acme-alice"]
    assert [claims["email"] for claims in subjects] == [EMAIL, EMAIL]


async def test_t15_one_client_id_in_two_tenants_is_two_clients(provider: World) -> None:
    secrets = {"default": SECRET, "acme": WORKER_SECRET}
    for tenant, like in (("default", "service"), ("acme", "worker")):
        known = await provider.store.of(CLIENTS).get(TenantId("default"), like)
        assert known is not None
        await provider.store.of(CLIENTS).insert(
            replace(known, tenant_id=TenantId(tenant), id="app", tenant_ids=(TenantId(tenant),))
        )

    async def status(tenant: str, secret: str) -> int:
        answer = await provider.http.post(
            f"{provider.issuer(tenant)}oidc/token",
            data={"grant_type": "client_credentials"},
            headers={"Authorization": encode_basic_auth("app", secret)},
        )
        return answer.status

    assert [await status("acme", secrets["acme"]), await status("acme", secrets["default"])] == [200, 401]
    assert [await status("", secrets["default"]), await status("", secrets["acme"])] == [200, 401]


async def test_t15_what_a_client_may_do_is_asked_of_the_tokens_issuer(provider: World) -> None:
    await provider.add_app("default", permissions=(Permission.IDENTITY_WRITE,))
    await provider.add_app("acme", permissions=(Permission.JOB_WORK,))
    directory = directory_of(provider.deployment.system_channel)

    async def permissions(issuer: str) -> list[str]:
        asked = directory_service_pb2.GetPrincipalRequest(subject="app", issuer=issuer)
        return list((await directory.GetPrincipal(asked)).principal.permissions)

    assert await permissions(provider.issuer()) == [Permission.IDENTITY_WRITE]
    assert await permissions(provider.issuer("acme")) == [Permission.JOB_WORK]
    with pytest.raises(grpc.RpcError) as failure:
        await permissions("https://evil.example/auth/v1/")
    assert isinstance(error_of(failure.value), NotFound)


async def test_t16_a_key_of_another_tenant_is_not_published(provider: World) -> None:
    keys = (await (await provider.http.get("/auth/v1/acme/oidc/certs")).json())["keys"]

    paths = [f"/auth/v1{tenant}/oidc/certs/{key['kid']}" for tenant in ("/acme", "") for key in keys]

    assert [200] * len(keys) + [404] * len(keys) == [await provider.status(path) for path in paths]


async def test_t17_rotating_a_tenants_keys_leaves_those_of_others(provider: World) -> None:
    async def kids(tenant: str) -> set[str]:
        keys = await provider.deployment.identity.keys.key_set(TenantId(tenant))
        return {
            keys.signing_key(algorithm).kid for algorithm in (SigningAlgorithm.ES256, SigningAlgorithm.EDDSA)
        }

    before = {tenant: await kids(tenant) for tenant in ("acme", "default")}

    await provider.deployment.identity.keys.rotate(ACME)

    events = await provider.store.of(EVENTS).page(ACME)
    assert before["acme"].isdisjoint(await kids("acme"))
    assert before["default"] <= await kids("default")
    assert [(event.tenant_id, event.type) for event in events] == [(ACME, EventType.JWKS_ROTATED)]


async def test_t20_administrators_of_a_tenant_learn_nothing_of_others(provider: World) -> None:
    await provider.add_user("acme", "acme-alice", roles=("admin",), permissions=tuple(Permission))
    await provider.add_app("acme")
    token = await provider.access_token("acme")

    paths = ["tenants", "tenants/umbrella", "tenants/nobody"]
    answers = [await provider.with_token(path, token) for path in paths]
    with_session = await provider.person("acme", lambda person: _looked_at(provider, person, paths))

    assert {(401, "Unauthorized")} == {(each.status, (await each.json())["error"]) for each in answers}
    assert {401} == set(with_session)


def _looked_at(provider: World, person: Person, paths: list[str]) -> list[int]:
    person.sign_in(provider.authorization("acme"))
    return [person.browser.get(f"{provider.issuer()}{path}", timeout=SECONDS).status_code for path in paths]


async def test_t21_a_user_code_of_another_tenant_is_unknown(provider: World) -> None:
    await populate(provider)
    started = await (
        await provider.http.post(f"{provider.issuer()}oidc/device", data={"client_id": "app"})
    ).json()

    def verified(person: Person) -> int:
        found = person.visit(f"{person.issuer}device?code={started['user_code']}")
        assert isinstance(found, Page)
        person.submit(found)
        answer = person.browser.post(
            f"{person.issuer}oidc/device/verify",
            json={
                "user_code": started["user_code"],
                "pow": solved(person.challenge()),
                "device_accepted": "accept",
            },
            headers={"x-csrf-token": str(person.session()["csrf_token"])},
            timeout=SECONDS,
        )
        return answer.status_code

    assert await provider.person("acme", verified) == 404
    assert await provider.person("", verified) == 202
