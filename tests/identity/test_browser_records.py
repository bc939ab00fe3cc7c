import msgspec
import pytest

from identity.access.login_protection.account_failures import ACCOUNT_FAILURES
from identity.access.login_protection.failures import ADDRESS_FAILURES
from identity.access.sessions.logout_records import BACK_CHANNEL_LOGOUTS, LOGOUT_REQUESTS
from identity.access.sessions.session import SESSIONS
from identity.authentication.authorization.code import AUTHORIZATION_CODES
from identity.authentication.requests.parameters import Parameters
from identity.authentication.requests.pushed import PUSHED_REQUESTS
from identity.authentication.requests.request import AUTHORIZATION_REQUESTS
from identity.directory.user import USERS
from server.platform.records import Kind, Record
from tests.identity.browsers import Provider, alice, app, calls

KINDS: tuple[Kind[Record], ...] = (
    *(AUTHORIZATION_CODES, AUTHORIZATION_REQUESTS, PUSHED_REQUESTS, SESSIONS, USERS),
    *(ACCOUNT_FAILURES, ADDRESS_FAILURES, LOGOUT_REQUESTS, BACK_CHANNEL_LOGOUTS),
)


@pytest.fixture
async def provider() -> Provider:
    """A provider after one use of every function that writes a record."""
    provider = Provider()
    await provider.register(app(backchannel_logout_uri="https://app.example.com/back-channel"))
    await provider.admit(alice())
    login_redirect, staying = await provider.signed_in(), await provider.signed_in()
    await provider.page(staying, prompt="login consent", max_age="5", ui_locales="de", acr_values="phr")
    await provider.pushing.push(provider.tenant, app(), calls())
    await provider.end_session.begin(provider.tenant, Parameters(()), staying)
    session = await provider.session(login_redirect)
    assert session is not None
    await provider.termination.end(provider.tenant, session)
    for _ in range(7):
        await provider.protection.failed(provider.tenant, "192.0.2.8", account="a@example.com", secret="x")
    return provider


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
async def test_what_is_kept_reads_as_it_was_written(provider: Provider, kind: Kind[Record]) -> None:
    kept = await provider.store.of(kind).page(provider.tenant.tenant_id)

    read = [msgspec.json.decode(msgspec.json.encode(record), type=kind.type) for record in kept]

    assert kept
    assert read == kept
