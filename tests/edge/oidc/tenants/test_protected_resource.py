"""Metadata of the process API as a protected resource: RFC 9728."""

import pytest

from edge import contract
from identity.foundation.vocabulary import Permission
from tests.edge.oidc.tenants.world import World

PATH = "/.well-known/oauth-protected-resource"
HOST = "hosted.example"


async def test_the_resource_is_the_origin_and_its_tokens_come_from_the_issuer(provider: World) -> None:
    answer = await provider.http.get(PATH, headers={"Origin": "https://agent.example"})

    found = await answer.json()
    issuer = provider.issuer()
    assert (answer.status, answer.content_type) == (200, "application/json")
    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    assert (found["resource"], found["authorization_servers"]) == (issuer.removesuffix("/auth/v1/"), [issuer])
    assert found["bearer_methods_supported"] == ["header"]
    assert (await provider.metadata())["issuer"] == issuer


async def test_its_scopes_are_the_permissions_that_routes_need(provider: World) -> None:
    scopes = (await (await provider.http.get(PATH)).json())["scopes_supported"]

    needed = {route.policy.permission for route in contract.routes()} - {""}
    assert scopes == sorted(needed)
    assert set(scopes) <= set(Permission)
    published = await (await provider.http.get("/.well-known/openid-configuration")).json()
    assert set(scopes) <= set(published["scopes_supported"])


async def test_the_host_of_a_tenant_is_a_resource_of_its_own(provider: World) -> None:
    await provider.create("hosted", hostname=HOST)

    found = await (await provider.http.get(PATH, headers={"Host": HOST})).json()

    origin = f"http://{HOST}:{provider.port}"
    assert (found["resource"], found["authorization_servers"]) == (origin, [f"{origin}/auth/v1/"])


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
async def test_it_is_only_read(provider: World, method: str) -> None:
    answer = await provider.http.request(method, PATH)

    assert answer.status == 405


async def test_an_unknown_host_is_told_the_configured_resource(provider: World) -> None:
    found = await (await provider.http.get(PATH, headers={"Host": "evil.example"})).json()

    assert found["resource"] == provider.issuer().removesuffix("/auth/v1/")
