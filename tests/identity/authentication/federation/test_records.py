import msgspec
import pytest

from identity.access.sessions.session import SESSIONS
from identity.authentication.federation.login import UPSTREAM_LOGINS
from identity.directory.provider import PROVIDER_LINKS, PROVIDERS, ClaimMapping
from server.platform.records import Kind, Record
from tests.identity.authentication.federation.flow import Flow

KINDS: tuple[Kind[Record], ...] = (PROVIDERS, PROVIDER_LINKS, UPSTREAM_LOGINS, SESSIONS)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
async def test_what_is_kept_reads_as_it_was_written(kind: Kind[Record]) -> None:
    flow = Flow()
    await flow.furnish(mappings=(ClaimMapping(claim="c", value="v", groups=("g",)),))
    await flow.sign_in()
    await flow.leave(prompt="login", max_age="5")
    kept = await flow.provider.store.of(kind).page(flow.provider.tenant.tenant_id)

    read = [msgspec.json.decode(msgspec.json.encode(record), type=kind.type) for record in kept]

    assert kept
    assert read == kept


async def test_what_opens_a_sign_in_is_not_seen() -> None:
    flow = Flow()
    await flow.furnish()
    asked, _ = await flow.leave()

    (login,) = await flow.provider.store.of(UPSTREAM_LOGINS).page(flow.provider.tenant.tenant_id)

    assert not any(secret in repr(login) for secret in (asked["state"], asked["nonce"], login.code_verifier))
