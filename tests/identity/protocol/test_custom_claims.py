"""Custom attributes of users that custom scopes open."""

from collections import Counter
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec
import pytest

from identity.access.tokens.custom_claims import RESERVED
from identity.directory.labels import SCOPE_DEFINITIONS, ScopeDefinition
from identity.foundation.vocabulary import GrantType
from identity.protocol.userinfo.presented import PresentedToken
from server.platform.clock import VirtualClock
from server.platform.records import Kind, Record, Records, RecordStore
from server.platform.records.memory import MemoryRecordStore
from tests.identity.protocol.provider import ACME, AS_APP, PEOPLE_SCOPES, TENANT, FixedKeys, Provider

R = TypeVar("R", bound=Record)

OFFICE = {"city": "Ulm", "floor": 3}
ATTRIBUTES = {"office": '{"city": "Ulm", "floor": 3}', "level": "7", "badge": '"K"'}
WORK = ScopeDefinition(
    tenant_id=TENANT.tenant_id,
    id="1",
    name="work",
    attr_include_access=("level", "nothing"),
    attr_include_id=("office", "level"),
)


class WatchedStore:
    """Records in memory; `uses` counts calls by kind."""

    def __init__(self, clock: VirtualClock) -> None:
        self.uses: Counter[str] = Counter()
        self._inner = MemoryRecordStore(clock)

    def of(self, kind: Kind[R]) -> Records[R]:
        return _Watched(self._inner.of(kind), kind.name, self.uses)  # type: ignore[return-value]


class _Watched:
    def __init__(self, inner: object, name: str, uses: Counter[str]) -> None:
        self._inner = inner
        self._name = name
        self._uses = uses

    def __getattr__(self, method: str) -> object:
        self._uses[self._name] += 1
        return getattr(self._inner, method)


@pytest.fixture
def records(clock: VirtualClock) -> RecordStore:
    return WatchedStore(clock)


@pytest.fixture
async def provider(records: RecordStore, clock: VirtualClock, keys: FixedKeys) -> Provider:
    """A provider with the scope `work`, which the app may request."""
    provider = Provider(records, clock, keys)
    await provider.populate()
    await records.of(SCOPE_DEFINITIONS).insert(WORK)
    await provider.change_client(oauth_scopes=("work", *PEOPLE_SCOPES))
    await provider.change_user(attributes=ATTRIBUTES)
    return provider


def plain(document: Mapping[str, object]) -> dict[str, Any]:
    """Return the document as a client parses it."""
    return dict(msgspec.json.decode(msgspec.json.encode(document)))


async def documents(provider: Provider, *oauth_scopes: str, **code: Any) -> dict[str, dict[str, Any]]:
    """Return all documents that the client gets for a grant of these scopes and `openid`."""
    issued = await provider.sign_in(oauth_scopes=("openid", *oauth_scopes), **code)
    presented = PresentedToken(access_token=issued.access_token, is_dpop=False, proof=None)
    user_info = await provider.user_info.of(TENANT, presented)
    return {
        "access_token": await provider.claims(issued.access_token),
        "id_token": await provider.claims(issued.id_token),
        "userinfo": plain(user_info.claims),
        "introspection": plain(
            await provider.introspection.for_client(TENANT, AS_APP, token=issued.access_token)
        ),
    }


async def custom(provider: Provider, *oauth_scopes: str, **code: Any) -> dict[str, Any]:
    found = await documents(provider, *oauth_scopes, **code)
    return {name: claims["custom"] for name, claims in found.items() if "custom" in claims}


async def test_a_scope_opens_the_attributes_that_it_names(provider: Provider) -> None:
    assert await custom(provider, "work") == {
        "access_token": {"level": 7},
        "introspection": {"level": 7},
        "id_token": {"office": OFFICE, "level": 7},
        "userinfo": {"office": OFFICE, "level": 7},
    }


async def test_a_scope_that_was_not_granted_opens_none(provider: Provider) -> None:
    assert await custom(provider, "email", "working") == {}


async def test_who_has_none_of_the_attributes_has_no_claim(provider: Provider) -> None:
    await provider.change_user(attributes={"badge": '"K"'})

    assert await custom(provider, "work") == {}


async def test_a_client_has_them_at_the_root_if_it_wants(provider: Provider) -> None:
    await provider.change_client(claims_at_root=True)

    found = await documents(provider, "work")

    assert (found["access_token"]["level"], found["introspection"]["level"]) == (7, 7)
    assert (found["id_token"]["office"], found["userinfo"]["office"]) == (OFFICE, OFFICE)
    assert not any("custom" in claims for claims in found.values())


async def test_none_hides_a_claim_of_the_provider(provider: Provider, records: RecordStore) -> None:
    hiding = tuple(sorted(RESERVED))
    greedy = ScopeDefinition(
        tenant_id=TENANT.tenant_id,
        id="2",
        name="greedy",
        attr_include_access=hiding,
        attr_include_id=hiding,
    )
    await records.of(SCOPE_DEFINITIONS).insert(greedy)
    await provider.change_client(claims_at_root=True)
    before = await documents(provider)

    await provider.change_user(attributes=dict.fromkeys(hiding, '"mine"'))

    after = await documents(provider, "greedy")
    assert [claims.keys() for claims in after.values()] == [claims.keys() for claims in before.values()]
    assert "'mine'" not in str(after)


async def test_whatever_the_provider_writes_is_reserved(provider: Provider) -> None:
    everything = await documents(provider, *PEOPLE_SCOPES)

    assert set().union(*everything.values()) <= RESERVED


async def test_the_claims_parameter_opens_what_a_scope_of_the_client_would(provider: Provider) -> None:
    asked = '{"userinfo":{"office":null,"badge":null},"id_token":{"level":{"essential":true}}}'

    assert await custom(provider, claims=asked) == {
        "id_token": {"level": 7},
        "userinfo": {"office": OFFICE},
    }


async def test_the_claims_parameter_opens_nothing_of_scopes_of_others(provider: Provider) -> None:
    await provider.change_client(oauth_scopes=("openid",))

    assert await custom(provider, claims='{"userinfo":{"office":null},"id_token":{"level":null}}') == {}


async def test_a_scope_of_another_tenant_opens_nothing(provider: Provider, records: RecordStore) -> None:
    elsewhere = ScopeDefinition(tenant_id=ACME.tenant_id, id="3", name="theirs", attr_include_id=("office",))
    await records.of(SCOPE_DEFINITIONS).insert(elsewhere)

    assert await custom(provider, "theirs") == {}


async def test_a_refreshed_token_has_what_is_so_now(provider: Provider) -> None:
    issued = await provider.sign_in(oauth_scopes=("openid", "work"))
    await provider.change_user(attributes={"level": "8"})

    refreshed = await provider.refresh(issued.refresh_token)

    assert (await provider.claims(refreshed.access_token))["custom"] == {"level": 8}


@pytest.mark.parametrize(
    ("oauth_scopes", "claims", "reads"),
    [
        pytest.param(("openid", "email"), "", 0, id="built in"),
        pytest.param(("openid",), '{"id_token":{"email":null}}', 0, id="built in, by the parameter"),
        pytest.param(("openid", "work"), "", 1, id="of the tenant"),
        pytest.param(("openid",), '{"id_token":{"level":null}}', 1, id="of the tenant, by the parameter"),
    ],
)
async def test_scopes_are_read_once_and_only_where_they_are_the_tenants(
    provider: Provider, records: WatchedStore, oauth_scopes: tuple[str, ...], claims: str, reads: int
) -> None:
    code = await provider.code(oauth_scopes=oauth_scopes, claims=claims)
    before = records.uses[SCOPE_DEFINITIONS.name]

    await provider.redeem(code)

    assert records.uses[SCOPE_DEFINITIONS.name] - before == reads


async def test_a_client_in_its_own_name_costs_one_read(provider: Provider, records: WatchedStore) -> None:
    await provider.change_client(claims='{"branch":"Ulm"}')
    records.uses.clear()

    await provider.ask(GrantType.CLIENT_CREDENTIALS, oauth_scopes=("work",))

    assert records.uses == {"client": 1}


async def test_introspection_shows_the_claims_that_a_client_brings(provider: Provider) -> None:
    await provider.change_client(claims='{"branch":"Ulm"}')
    issued = await provider.ask(GrantType.CLIENT_CREDENTIALS)

    found = await provider.introspection.for_client(TENANT, AS_APP, token=issued.access_token)

    assert plain(found)["custom"] == {"branch": "Ulm"}
