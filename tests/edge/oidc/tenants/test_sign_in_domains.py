"""Administration of sign-in domains, by administrators of the tenant and of the deployment."""

from collections.abc import AsyncIterator
from urllib.parse import urljoin

import pytest
import requests

from identity.foundation.events.event import EVENTS
from identity.foundation.events.kinds import EventType
from server.platform.call import TenantId
from tests.edge.oidc.tenants.world import World, world
from tests.identity.administration.tenants.nameserver import Nameserver, nameserver
from tests.people.person import SECONDS, Person

PATH = "tenants/acme/domains"
NAME = "example.com"
PASSWORD_TARGET = {"type": "password", "providers": [], "password": True}


@pytest.fixture
async def dns() -> AsyncIterator[Nameserver]:
    async with nameserver() as running:
        yield running


@pytest.fixture
async def provider(dns: Nameserver) -> AsyncIterator[World]:
    async with world(nameservers=(dns.address,)) as running:
        yield running


async def add(provider: World, name: str = NAME, tenant: str = "acme") -> dict[str, object]:
    answer = await provider.administer("POST", f"tenants/{tenant}/domains", json={"domain": name})
    assert answer.status == 201, await answer.text()
    return dict(await answer.json())


async def verify(provider: World, tenant: str = "acme", name: str = NAME, **body: object) -> int:
    path = f"tenants/{tenant}/domains/{name}/verify"
    return (await provider.administer("POST", path, json=body or None)).status


async def domains(provider: World, tenant: str = "acme") -> list[dict[str, object]]:
    return list(await (await provider.administer("GET", f"tenants/{tenant}/domains")).json())


async def test_a_domain_is_added_and_verified_by_its_txt_record(provider: World, dns: Nameserver) -> None:
    added = await add(provider, "EXAMPLE.com.")
    too_early = await verify(provider)
    dns.texts[str(added["txt_name"])] = (f'"{added["txt_value"]}"', '"v=spf1 -all"')
    verified = await verify(provider)

    now = int(provider.deployment.clock.now().timestamp())
    facts = {key: added[key] for key in ("txt_name", "txt_value")}
    assert added == {
        **facts,
        "domain": NAME,
        "verified": False,
        "expires_at": now + 14 * 86_400,
        "target": PASSWORD_TARGET,
    }
    assert [too_early, verified] == [409, 200]
    assert await domains(provider) == [
        {**facts, "domain": NAME, "verified": True, "verified_at": now, "target": PASSWORD_TARGET}
    ]


async def test_a_nameserver_that_is_away_refuses_no_domain(provider: World, dns: Nameserver) -> None:
    await add(provider)
    dns.is_silent = True

    assert await verify(provider) == 503


async def test_administrators_of_the_deployment_vouch_for_a_domain(provider: World, dns: Nameserver) -> None:
    await add(provider)
    dns.is_silent = True

    status = await verify(provider, without_dns=True)

    [event] = [
        event
        for event in await provider.store.of(EVENTS).page(TenantId("acme"))
        if event.type is EventType.DOMAIN_VERIFIED
    ]
    assert (status, event.text, event.actor and event.actor.id) == (200, "example.com vouched", "service")


async def test_e22_a_second_tenant_does_not_verify_the_domain_of_another(provider: World) -> None:
    for tenant in ("acme", "umbrella"):
        await add(provider, tenant=tenant)

    statuses = [await verify(provider, tenant, without_dns=True) for tenant in ("acme", "umbrella")]

    assert statuses == [200, 409]


@pytest.mark.parametrize(
    "body",
    [
        {"domain": "localhost"},
        {"domain": "192.0.2.1"},
        {"domain": "a b.example"},
        {"domain": "a" * 300},
        {"domain": NAME, "target": {"type": "provider", "providers": []}},
        {"domain": NAME, "target": {"type": "somewhere"}},
        {"domain": NAME, "target": {"type": "password", "password": False}},
        {"domain": NAME, "verified": True},
        pytest.param({"domain": NAME, "target": {"type": "provider", "providers": ["okta"]}}, id="E15"),
    ],
)
async def test_what_is_no_domain_with_a_target_is_refused(provider: World, body: dict[str, object]) -> None:
    answer = await provider.administer("POST", PATH, json=body)

    assert answer.status == 400
    assert await domains(provider) == []


async def test_a_target_is_replaced_by_what_was_read(provider: World) -> None:
    await add(provider)

    changed = await provider.administer("PUT", f"{PATH}/{NAME}", json={"target": PASSWORD_TARGET})
    refused = await provider.administer(
        "PUT", f"{PATH}/{NAME}", json={"target": {"type": "choice", "providers": ["okta"]}}
    )

    assert [changed.status, refused.status] == [200, 400]
    assert (await changed.json())["target"] == PASSWORD_TARGET


async def test_a_domain_is_removed_once(provider: World) -> None:
    await add(provider, "bücher.example")

    statuses = [(await provider.administer("DELETE", f"{PATH}/B%C3%BCcher.example")).status for _ in range(2)]

    assert statuses == [204, 404]
    assert await domains(provider) == []


async def test_what_another_tenant_has_is_answered_like_what_nobody_has(provider: World) -> None:
    await add(provider, tenant="umbrella")

    for method, path in (("PUT", ""), ("POST", "/verify"), ("DELETE", "")):
        bodies = []
        for name in (NAME, "nobody.example", "no domain"):
            body = {"target": PASSWORD_TARGET} if method == "PUT" else None
            answer = await provider.administer(method, f"{PATH}/{name}{path}", json=body)
            bodies.append((answer.status, (await answer.json())["message"]))
        assert bodies == [(404, "there is no such domain")] * 3


def ask(person: Person, method: str, path: str, **options: object) -> requests.Response:
    """Send a request as the administrator of this browser."""
    headers = {"x-csrf-token": str(person.session()["csrf_token"])}
    return person.browser.request(
        method,
        urljoin(person.issuer, path),
        headers=headers,
        timeout=SECONDS,
        **options,  # type: ignore[arg-type]
    )


async def test_t20_an_administrator_keeps_the_domains_of_its_own_tenant(provider: World) -> None:
    await provider.add_user("acme", "acme-alice", roles=("admin",))
    await provider.add_app("acme")

    def act(person: Person) -> list[tuple[int, str]]:
        person.sign_in(provider.authorization("acme"))
        answers = (
            ask(person, "POST", PATH, json={"domain": NAME}),
            ask(person, "POST", f"{PATH}/{NAME}/verify", json={"without_dns": True}),
            ask(person, "GET", "tenants/umbrella/domains"),
            ask(person, "GET", "tenants/nobody/domains"),
            ask(person, "GET", "tenants/default/domains"),
        )
        return [(answer.status_code, answer.json().get("message", "")) for answer in answers]

    own, vouched, *of_others = await provider.person("acme", act)

    assert (own[0], vouched[0]) == (201, 401)
    assert len(set(of_others)) == 1
    assert of_others[0][0] == 401
    assert [domain["verified"] for domain in await domains(provider)] == [False]


async def test_the_domains_of_a_tenant_that_there_is_not_are_not_found(provider: World) -> None:
    answer = await provider.administer("GET", "tenants/nobody/domains")

    assert (answer.status, (await answer.json())["message"]) == (404, "there is no such tenant")


async def test_the_domains_of_a_disabled_tenant_are_kept_by_the_deployment(provider: World) -> None:
    await provider.create("later", enabled=False)

    await add(provider, tenant="later")

    assert len(await domains(provider, "later")) == 1


async def test_a_stranger_keeps_no_domains(provider: World) -> None:
    answers = [
        await provider.http.post(f"/auth/v1/tenants/{tenant}/domains", json={"domain": NAME})
        for tenant in ("acme", "nobody")
    ]

    assert [answer.status for answer in answers] == [401, 401]
