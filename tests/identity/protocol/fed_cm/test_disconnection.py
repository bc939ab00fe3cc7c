"""A client's page disconnects a user's account from the client: FedCM §3.6."""

import pytest

from server.platform.errors import InvalidArgument, Unauthenticated
from tests.identity.protocol.fed_cm.mediation import NOBODY, Mediation


@pytest.mark.parametrize("hint", ["alice", "alice@example.com", "Alice@Example.com"])
async def test_what_the_person_let_the_client_have_is_taken_back(mediation: Mediation, hint: str) -> None:
    browser = await mediation.sign_in()
    await mediation.issue(browser)

    account_id = await mediation.disconnect(browser, account_hint=hint)

    assert account_id == "alice"
    assert await mediation.consent() is None
    assert (await mediation.accounts(browser)).approved_clients == ()
    assert (await mediation.events())[-1] == ("ConsentWithdrawn", "openid", "shop")


async def test_what_was_not_granted_is_as_good_as_taken_back(mediation: Mediation) -> None:
    browser = await mediation.sign_in()

    assert await mediation.disconnect(browser) == "alice"
    assert await mediation.events() == []


@pytest.mark.parametrize("hint", ["bob", "bob@example.com", ""])
async def test_nobody_else_is_disconnected(mediation: Mediation, hint: str) -> None:
    browser = await mediation.sign_in()
    await mediation.issue(browser)

    with pytest.raises(Unauthenticated) as refusal:
        await mediation.disconnect(browser, account_hint=hint)

    assert refusal.value.metadata == {"cause": "ANOTHER_ACCOUNT"}
    assert await mediation.consent() is not None


async def test_another_page_disconnects_nobody(mediation: Mediation) -> None:
    browser = await mediation.sign_in()
    await mediation.issue(browser)

    with pytest.raises(InvalidArgument):
        await mediation.disconnect(browser, origin="https://evil.example")

    assert await mediation.consent() is not None


async def test_without_a_session_nobody_is_disconnected(mediation: Mediation) -> None:
    with pytest.raises(Unauthenticated):
        await mediation.disconnect(NOBODY)
