"""A client cannot pass for a user by its id, and tokens cannot pass for others by their audience."""

import re
from dataclasses import replace

import pytest

from identity.access.client_authentication.authenticator import ClientCredentials
from identity.directory.user import USERS
from identity.foundation.errors import UnauthorizedClient
from identity.foundation.vocabulary import AuthenticationMethod, GrantType
from server.platform.call import TenantId
from tests.identity.deployment import deployed
from tests.identity.protocol.provider import ADA, SECRET, Provider, app

PERSON = re.compile(r"[A-Za-z0-9]{24}")


@pytest.mark.parametrize("client_id", [ADA.id, "x" * 24])
async def test_a_client_with_the_id_of_a_person_asks_for_nothing_in_its_own_name(
    provider: Provider, client_id: str
) -> None:
    await provider.add_client(replace(app(provider.secrets), id=client_id))
    itself = ClientCredentials(AuthenticationMethod.CLIENT_SECRET_BASIC, client_id, SECRET)

    with pytest.raises(UnauthorizedClient):
        await provider.ask(GrantType.CLIENT_CREDENTIALS, credentials=itself)


@pytest.mark.parametrize("client_id", ["x" * 23, "x" * 25, "reports-of-the-evening-1"])
async def test_a_client_with_any_other_id_does(provider: Provider, client_id: str) -> None:
    await provider.add_client(replace(app(provider.secrets), id=client_id))
    itself = ClientCredentials(AuthenticationMethod.CLIENT_SECRET_BASIC, client_id, SECRET)

    issued = await provider.ask(GrantType.CLIENT_CREDENTIALS, credentials=itself)

    assert (await provider.claims(issued.access_token))["sub"] == client_id


async def test_people_have_ids_that_no_client_in_its_own_name_has() -> None:
    async with deployed() as deployment:
        people = await deployment.store.of(USERS).page(TenantId("default"))

    assert [PERSON.fullmatch(person.id) is not None for person in people] == [True]


async def test_nobody_adds_an_audience_to_a_persons_tokens(provider: Provider) -> None:
    issued = await provider.redeem(await provider.code(), audience="https://bank.example.com")
    refreshed = await provider.refresh(issued.refresh_token, audience="https://bank.example.com")

    tokens = [issued.access_token, refreshed.access_token]
    assert [(await provider.claims(token))["aud"] for token in tokens] == ["app", "app"]
