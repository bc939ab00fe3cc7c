"""T26: a tenant with its own host is a separate WebAuthn relying party."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import ClientSession, CookieJar

from tests.edge.oidc.people.somebody import Somebody
from tests.edge.oidc.tenants.world import EMAIL, PASSWORD, World
from tests.identity.authentication.passkeys.authenticator import SoftwareAuthenticator

ALICE = "k3RyTq9YbM2cLw7PzD5sXa1v"
HOST = "login.acme.example"


@asynccontextmanager
async def alice_at(provider: World, host: str) -> AsyncIterator[Somebody]:
    """Yield Alice with her own browser, at a host of the tenant."""
    origin = f"http://127.0.0.1:{provider.port}"
    jar = CookieJar(unsafe=True)
    async with ClientSession(origin, headers={"Host": host}, cookie_jar=jar) as http:
        yield Somebody(http, f"http://{host}:{provider.port}/auth/v1/", EMAIL, ALICE)


async def options_of(alice: Somebody) -> dict[str, Any]:
    """Return the creation options for her authenticator."""
    token = await alice.proof(PASSWORD)
    started = await alice.own("POST", "/webauthn/register/start", passkey_name="key", mfa_mod_token_id=token)
    return dict((await started.json())["publicKey"])


@pytest.fixture
async def hosted(provider: World) -> World:
    """A tenant with a host, where Alice has a passkey."""
    await provider.create("hosted", hostname=HOST)
    await provider.add_user("hosted", ALICE)
    async with alice_at(provider, HOST) as alice:
        await alice.sign_in(PASSWORD)
        data = SoftwareAuthenticator(f"http://{HOST}:{provider.port}").create(await options_of(alice))
        added = await alice.own("POST", "/webauthn/register/finish", passkey_name="key", data=data)
        assert added.status == 201, await added.text()
    return provider


async def test_a_tenant_at_its_own_host_has_passkeys_of_its_own(hosted: World) -> None:
    async with alice_at(hosted, HOST) as alice:
        asked = await alice.sign_in(PASSWORD)

    assert asked.status == 200


async def test_the_relying_party_is_the_host(provider: World) -> None:
    await provider.create("hosted", hostname=HOST)
    await provider.add_user("hosted", ALICE)
    async with alice_at(provider, HOST) as alice:
        await alice.sign_in(PASSWORD)

        options = await options_of(alice)

    assert options["rp"]["id"] == HOST


async def test_keys_of_another_host_are_not_offered(hosted: World) -> None:
    await hosted.administer("PUT", "tenants/hosted", json={"hostname": "new.acme.example"})

    async with alice_at(hosted, "new.acme.example") as alice:
        signed_in = await alice.sign_in(PASSWORD)
        offered = await (await alice.own("GET", "/webauthn")).json()

    assert signed_in.status == 202
    assert offered == []
