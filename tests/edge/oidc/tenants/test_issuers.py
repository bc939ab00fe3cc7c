"""The issuer of each tenant, by path and by host."""

import json

import pytest
from joserfc import jws

from tests.edge.oidc.tenants.world import DISCOVERY, World, world

OAUTH = "/.well-known/oauth-authorization-server"
SIX = [
    f"/auth/v1/{DISCOVERY}",
    f"/auth/v1{OAUTH}",
    f"/{DISCOVERY}",
    OAUTH,
    f"{OAUTH}/auth/v1",
    f"{OAUTH}/auth/v1/",
]
ACME = f"/auth/v1/acme/{DISCOVERY}"
HOST = "login.acme.example"


async def test_t01_the_default_tenant_has_one_document_at_six_addresses(provider: World) -> None:
    documents = [await (await provider.http.get(path)).read() for path in SIX]

    assert len(set(documents)) == 1
    assert str((await provider.metadata())["issuer"]).endswith("/auth/v1/")


async def test_t02_a_tenants_document_names_its_issuer_and_its_endpoints(provider: World) -> None:
    metadata = await provider.metadata(ACME)

    issuer = provider.issuer("acme")
    endpoints = {name: str(url) for name, url in metadata.items() if name.endswith(("_endpoint", "_uri"))}
    assert issuer == metadata["issuer"]
    assert endpoints
    assert all(url.startswith(issuer) for url in endpoints.values())


async def test_t03_an_unknown_tenant_has_no_document(provider: World) -> None:
    answer = await provider.http.get(f"/auth/v1/nobody/{DISCOVERY}", allow_redirects=False)

    assert (answer.status, (await answer.json())["error"]) == (404, "NotFound")


async def test_t05_a_tenant_has_its_document_at_its_host(provider: World) -> None:
    await provider.create("hosted", hostname=HOST)

    issuers = [(await provider.metadata(path, Host=HOST))["issuer"] for path in SIX]

    assert {f"http://{HOST}:{provider.port}/auth/v1/"} == set(issuers)


async def test_t06_an_unknown_host_is_told_the_configured_address(provider: World) -> None:
    issuers = [(await provider.metadata(path, Host="evil.example"))["issuer"] for path in SIX]

    assert {provider.issuer()} == set(issuers)


async def test_t07_a_forwarded_host_is_believed_of_trusted_proxies_alone(provider: World) -> None:
    async with world(trusted_proxies=("127.0.0.0/8",)) as behind_proxy:
        for running in (provider, behind_proxy):
            await running.create("hosted", hostname=HOST)
        of_stranger = await provider.metadata(X_Forwarded_Host=HOST)
        of_proxy = await behind_proxy.metadata(X_Forwarded_Host=f"evil.example, {HOST}")

    assert provider.issuer() == of_stranger["issuer"]
    assert str(of_proxy["issuer"]).startswith(f"http://{HOST}:")


@pytest.mark.parametrize("host", [f"{HOST}:8443", HOST.upper(), f"{HOST}.", f"LOGIN.acme.example.:{80}"])
async def test_t08_a_host_is_compared_without_case_port_and_final_dot(provider: World, host: str) -> None:
    await provider.create("hosted", hostname="Login.ACME.example.")

    assert str((await provider.metadata(Host=host))["issuer"]).startswith(f"http://{HOST}:")


async def test_t09_a_tenant_with_a_host_and_a_path_has_one_issuer(provider: World) -> None:
    await provider.create("hosted", hostname=HOST)
    await provider.add_user("hosted", "hosted-alice")
    await provider.add_app("hosted")

    at_host = await provider.metadata(Host=HOST)
    at_path = await provider.metadata(f"/auth/v1/hosted/{DISCOVERY}")
    below_other_host = await provider.metadata(ACME, Host=HOST)
    token = await provider.access_token("hosted")

    assert at_host == at_path
    assert provider.issuer("acme") == below_other_host["issuer"]
    assert at_host["issuer"] == json.loads(jws.extract_compact(token.encode()).payload)["iss"]
    assert (await provider.with_token("oidc/userinfo", token, "hosted")).status == 200


@pytest.mark.parametrize("final", ["", "/"])
async def test_t23_the_well_known_part_is_inserted_before_a_tenants_path(provider: World, final: str) -> None:
    assert provider.issuer("acme") == (await provider.metadata(f"{OAUTH}/auth/v1/acme{final}"))["issuer"]


@pytest.mark.parametrize(
    ("segment", "status"),
    [("%61cme", 200), ("%6Fidc", 404), ("tenant%73", 404), ("a%2Fb", 404), ("%41cme", 404), ("%C3%A4", 404)],
)
async def test_t25_an_encoded_tenant_is_the_one_that_it_spells_or_none(
    provider: World, segment: str, status: int
) -> None:
    path = f"/auth/v1/{segment}/{DISCOVERY}"

    assert status == await provider.status(path)


@pytest.mark.parametrize("path", ["/auth/v1/acme", "/auth/v1/acme/nothing", "/auth/v1/acme/oidc/x"])
async def test_an_unknown_address_below_a_tenant_leads_to_its_entry_page(provider: World, path: str) -> None:
    moved = await provider.http.get(path, allow_redirects=False)
    entry = await provider.http.get("/auth/v1/acme/")

    assert (moved.status, moved.headers["Location"]) == (308, "/auth/v1/acme/")
    assert entry.status == 200
    assert 'href="/auth/v1/acme/sign-in"' in await entry.text()
    assert provider.issuer("acme") in await entry.text()


@pytest.mark.parametrize(
    "path", ["/auth/v1/nobody", "/auth/v1/nobody/", "/auth/v1/nobody/x", "/auth/v1/%C3%A4/"]
)
async def test_the_address_of_no_tenant_leads_to_the_default_entry_page(provider: World, path: str) -> None:
    moved = await provider.http.get(path, allow_redirects=False)

    assert (moved.status, moved.headers["Location"]) == (308, "/auth/v1/")


async def test_the_start_page_of_a_host_names_the_issuer_of_its_tenant(provider: World) -> None:
    await provider.create("hosted", hostname=HOST)

    links = await (await provider.http.get("/", headers={"Host": HOST})).json()

    assert f"http://{HOST}:{provider.port}/auth/v1/" == links["issuer"]
