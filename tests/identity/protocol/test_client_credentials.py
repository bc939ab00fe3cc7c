from datetime import timedelta

import pytest

from identity.access.client_authentication.authenticator import ClientCredentials
from identity.access.tokens.token_set import TOKEN_SETS
from identity.directory.labels import GROUPS, ROLES, Group, Role
from identity.foundation.errors import (
    InvalidRequest,
    InvalidScope,
    InvalidTarget,
    ProtocolError,
    UnauthorizedClient,
    UnsupportedGrantType,
)
from identity.foundation.vocabulary import AuthenticationMethod, GrantType, Permission
from server.platform.records import RecordStore
from tests.identity.protocol.provider import AS_APP, TENANT, Provider, app

OWN = GrantType.CLIENT_CREDENTIALS


async def test_a_client_in_its_own_name_gets_an_access_token_and_nothing_else(
    provider: Provider, records: RecordStore
) -> None:
    issued = await provider.ask(OWN, oauth_scopes=("job:work",))

    claims = await provider.claims(issued.access_token)
    assert (claims["sub"], claims["aud"], claims["azp"]) == ("app", "app", "app")
    assert (issued.id_token, issued.refresh_token, issued.oauth_scopes) == ("", "", ("job:work",))
    assert not {"email", "roles", "sid", "cnf"} & claims.keys()
    assert not await records.of(TOKEN_SETS).page(TENANT.tenant_id)


async def test_openid_means_nothing_without_a_person(provider: Provider) -> None:
    issued = await provider.ask(OWN, oauth_scopes=("openid", "job:work"))

    assert not issued.id_token


async def test_a_client_is_given_its_default_scopes_when_it_asks_for_none(provider: Provider) -> None:
    await provider.change_client(default_scopes=("history:read",))

    issued = await provider.ask(OWN)

    assert issued.oauth_scopes == ("history:read",)


async def test_default_scopes_are_added_to_those_that_are_asked_for(provider: Provider) -> None:
    await provider.change_client(default_scopes=("email",))

    issued = await provider.ask(OWN, oauth_scopes=("job:work", "email"))
    narrower = await provider.ask(OWN, oauth_scopes=("job:work",))

    assert issued.oauth_scopes == narrower.oauth_scopes == ("job:work", "email")
    assert (await provider.claims(narrower.access_token))["scope"] == "job:work email"


async def test_a_token_is_narrowed_to_a_permission_though_others_are_defaults(provider: Provider) -> None:
    await provider.change_client(default_scopes=("job:work", "history:read"))

    issued = await provider.ask(OWN, oauth_scopes=("job:work",))

    assert issued.oauth_scopes == ("job:work",)


async def test_without_permissions_among_its_defaults_a_client_is_given_its_own(provider: Provider) -> None:
    await provider.change_client(default_scopes=("email",))

    issued = await provider.ask(OWN)

    assert issued.oauth_scopes == ("email", "job:work")


async def test_what_roles_and_groups_permit_needs_no_scope(provider: Provider, records: RecordStore) -> None:
    own = {"tenant_id": TENANT.tenant_id}
    for name, permission in (("clerk", Permission.INCIDENT_RESOLVE), ("deployer", Permission.PROCESS_DEPLOY)):
        await records.of(ROLES).insert(Role(**own, id=name, name=name, permissions=(permission,)))
    await records.of(GROUPS).insert(Group(**own, id="staff", name="staff", roles=("deployer",)))
    await provider.change_client(default_scopes=("job:work",), roles=("clerk",), groups=("staff",))

    everything = await provider.ask(OWN)
    narrow = await provider.ask(OWN, oauth_scopes=("process:deploy",))

    assert everything.oauth_scopes == ("job:work", "process:deploy", "incident:resolve")
    assert narrow.oauth_scopes == ("process:deploy",)


async def test_roles_of_a_client_widen_no_tokens_of_people(provider: Provider, records: RecordStore) -> None:
    role = Role(tenant_id=TENANT.tenant_id, id="r", name="deployer", permissions=(Permission.PROCESS_DEPLOY,))
    await records.of(ROLES).insert(role)
    await provider.change_client(roles=("deployer",))

    with pytest.raises(InvalidScope):
        await provider.start_device(oauth_scopes=("process:deploy",))


async def test_a_resource_that_the_client_may_ask_for_becomes_an_audience(provider: Provider) -> None:
    issued = await provider.ask(OWN, resources=("https://api.example.com",))

    assert (await provider.claims(issued.access_token))["aud"] == ["app", "https://api.example.com"]


async def test_what_a_clients_tokens_are_always_for_is_in_their_audience(provider: Provider) -> None:
    await provider.change_client(default_aud=("orders", "app"))

    issued = await provider.ask(OWN, resources=("https://api.example.com",))

    assert (await provider.claims(issued.access_token))["aud"] == ["app", "orders", "https://api.example.com"]


async def test_a_client_brings_claims_of_its_own(provider: Provider) -> None:
    await provider.change_client(claims='{"branch": "Ulm", "sub": 1.50}')

    issued = await provider.ask(OWN)

    claims = await provider.claims(issued.access_token)
    assert (claims["sub"], claims["custom"]) == ("app", {"branch": "Ulm", "sub": 1.5})


async def test_at_the_root_a_clients_claims_hide_none_of_the_providers(provider: Provider) -> None:
    await provider.change_client(claims='{"branch":"Ulm","sub":"root","sid":"x"}', claims_at_root=True)

    issued = await provider.ask(OWN)

    claims = await provider.claims(issued.access_token)
    assert (claims["sub"], claims["branch"]) == ("app", "Ulm")
    assert not {"custom", "sid"} & claims.keys()


async def test_a_client_says_how_long_its_tokens_live(provider: Provider) -> None:
    await provider.change_client(access_token_lifetime=timedelta(seconds=90))

    issued = await provider.ask(OWN)

    claims = await provider.claims(issued.access_token)
    assert timedelta(seconds=90) == issued.lifetime
    assert claims["exp"] - claims["iat"] == 90


REFUSALS = [
    pytest.param(InvalidRequest, {"grant_type": ""}, id="no grant type"),
    pytest.param(UnsupportedGrantType, {"grant_type": "password"}, id="unknown grant type"),
    pytest.param(InvalidScope, {"oauth_scopes": ("process:deploy",)}, id="scope of others"),
    pytest.param(InvalidTarget, {"resources": ("https://other.example.com",)}, id="resource of others"),
    pytest.param(InvalidTarget, {"resources": ("https://api.example.com#x",)}, id="resource with a fragment"),
    pytest.param(InvalidTarget, {"resources": ("/relative",)}, id="relative resource"),
    pytest.param(InvalidTarget, {"resources": ("https://[",)}, id="malformed resource"),
    pytest.param(InvalidRequest, {"audience": "x" * 4096}, id="token too long"),
]


@pytest.mark.parametrize(("error", "fields"), REFUSALS)
async def test_a_refusal_has_the_code_of_its_rfc(
    provider: Provider, error: type[ProtocolError], fields: dict[str, object]
) -> None:
    with pytest.raises(error):
        await provider.ask(**{"grant_type": OWN} | fields)


async def test_a_client_may_not_use_a_grant_that_it_is_not_registered_for(provider: Provider) -> None:
    await provider.change_client(grant_types=frozenset({GrantType.AUTHORIZATION_CODE}))

    with pytest.raises(UnauthorizedClient):
        await provider.ask(OWN)


async def test_a_public_client_has_no_name_of_its_own(provider: Provider) -> None:
    await provider.change_client(secret_hash=None, token_endpoint_auth_method=AuthenticationMethod.NONE)

    with pytest.raises(UnauthorizedClient):
        await provider.ask(OWN, credentials=ClientCredentials(AuthenticationMethod.NONE, "app"))


def test_a_secret_is_not_shown(provider: Provider) -> None:
    client = app(provider.secrets)

    assert "s3cret" not in f"{AS_APP!r} {client!r}"
    assert repr(client.secret_hash) not in repr(client)
