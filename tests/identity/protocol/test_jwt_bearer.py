"""The JWT bearer grant: RFC 7523 §2.1. The upstream provider `corp` vouches for its user `ada@corp`, who is Ada here."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import msgspec
import pytest
from joserfc import jws
from joserfc.jwk import ECKey, OctKey

from identity.access.client_authentication.authenticator import ClientCredentials
from identity.access.dpop.config import DpopConfig
from identity.access.tokens.token_set import TOKEN_SETS
from identity.crypto.signed_jwt import ForeignSignatures
from identity.directory.client import ClientId
from identity.directory.consents.consent import CONSENTS, Consent, Terms, pair_of
from identity.directory.provider import (
    PROVIDER_LINKS,
    PROVIDERS,
    ProviderFields,
    ProviderLink,
    ProviderType,
    SamlFields,
    link_id_of,
)
from identity.directory.provider import Provider as UpstreamProvider
from identity.directory.user import UserId
from identity.foundation.errors import (
    InvalidDpopProof,
    InvalidGrant,
    InvalidRequest,
    InvalidScope,
    InvalidTarget,
    UnauthorizedClient,
    UseDpopNonce,
)
from identity.foundation.vocabulary import (
    AuthenticationMethod,
    ConsentMode,
    GrantType,
    SubjectType,
    TokenType,
)
from identity.protocol.grants.pipeline import IssuedTokens
from server.platform.records import RecordStore
from tests.identity.protocol.provider import ACME, ADA, AS_APP, NOON, TENANT, Provider
from tests.identity.protocol.test_client_authentication import key_set
from tests.identity.protocol.test_dpop import KEY, proof

NOW = int(NOON.timestamp())
KEY_OF_CORP = ECKey.generate_key("P-256", {"kid": "corp-1"})
CLAIMS = {
    "iss": "https://corp.example.com",
    "sub": "ada@corp",
    "aud": TENANT.issuer,
    "jti": "1",
    "iat": NOW,
    "exp": NOW + 300,
}
CORP = UpstreamProvider(
    tenant_id=TENANT.tenant_id,
    id="corp",
    fields=ProviderFields(
        name="Corp",
        type=ProviderType.OIDC,
        is_enabled=True,
        issuer="https://corp.example.com",
        authorization_endpoint="https://corp.example.com/authorize",
        token_endpoint="https://corp.example.com/token",
        jwks_endpoint="https://corp.example.com/keys",
        client_id="gnomon",
        token_endpoint_auth_method=AuthenticationMethod.NONE,
        oauth_scopes=("openid",),
        mfa_claim="amr",
        mfa_value="mfa",
    ),
)


def assertion(
    key: Any = KEY_OF_CORP, *, alg: str = "ES256", header: dict[str, Any] | None = None, **claims: Any
) -> str:
    """Sign an assertion about Ada; a claim of None is left out."""
    written = {name: value for name, value in (CLAIMS | claims).items() if value is not None}
    registry = ForeignSignatures(algorithms=[alg], strict_check_header=False)
    whole = {"alg": alg, "kid": "corp-1", **(header or {})}
    return jws.serialize_compact(whole, msgspec.json.encode(written), key, registry=registry)


async def redeemed(provider: Provider, text: str, **fields: Any) -> IssuedTokens:
    return await provider.ask(GrantType.JWT_BEARER, assertion=text, **fields)


async def change_corp(records: RecordStore, **fields: Any) -> None:
    kept = await records.of(PROVIDERS).get(TENANT.tenant_id, "corp")
    assert kept is not None
    await records.of(PROVIDERS).replace(replace(kept, fields=replace(kept.fields, **fields)))


@pytest.fixture
async def federated(provider: Provider, records: RecordStore) -> Provider:
    """A provider at which the client `app` may redeem assertions of `corp`."""
    await records.of(PROVIDERS).insert(CORP)
    await records.of(PROVIDER_LINKS).insert(
        ProviderLink(
            tenant_id=TENANT.tenant_id,
            id=link_id_of(CORP, "ada@corp"),
            provider_id="corp",
            user_id=ADA.id,
        )
    )
    provider.documents.texts["https://corp.example.com/keys"] = key_set(KEY_OF_CORP)
    await provider.change_client(assertion_providers=("other", "corp"), default_scopes=("openid", "email"))
    return provider


@pytest.fixture
def relaxed(federated: Provider) -> Provider:
    """The same provider, which requires no nonce."""
    return Provider(
        federated.records,
        federated.clock,
        federated.keys,
        dpop=DpopConfig(nonce_lifetime_secs=0),
        documents=federated.documents,
    )


async def test_an_assertion_about_a_linked_user_becomes_an_access_token(federated: Provider) -> None:
    issued = await redeemed(federated, assertion(), resources=("https://api.example.com",))

    claims = await federated.claims(issued.access_token)
    assert (claims["sub"], claims["azp"], claims["scope"]) == (ADA.id, "app", "email")
    assert claims["aud"] == ["app", "https://api.example.com"]
    assert (issued.id_token, issued.refresh_token) == ("", "")
    assert await federated.is_active(issued.access_token)


async def test_the_token_expires_with_the_assertion_at_the_latest(federated: Provider) -> None:
    issued = await redeemed(federated, assertion())
    await federated.change_client(access_token_lifetime=timedelta(seconds=60))
    brief = await redeemed(federated, assertion(jti="2"))

    assert (issued.lifetime, brief.lifetime) == (timedelta(seconds=300), timedelta(seconds=60))
    assert (await federated.claims(issued.access_token))["exp"] == NOW + 300
    federated.clock.advance(timedelta(seconds=306))
    assert not await federated.is_active(issued.access_token)


async def test_an_assertion_is_redeemed_once(federated: Provider, records: RecordStore) -> None:
    await redeemed(federated, assertion())

    with pytest.raises(InvalidGrant, match="used before"):
        await redeemed(federated, assertion())

    assert len(await records.of(TOKEN_SETS).page(TENANT.tenant_id)) == 1
    assert (await redeemed(federated, assertion(jti="2"))).access_token


async def test_a_request_that_is_refused_does_not_use_the_assertion_up(federated: Provider) -> None:
    with pytest.raises(InvalidScope):
        await redeemed(federated, assertion(), oauth_scopes=("nonsense",))
    with pytest.raises(UseDpopNonce):
        await redeemed(federated, assertion(), dpop=proof())

    assert (await redeemed(federated, assertion())).access_token


@pytest.mark.parametrize("audience", [TENANT.issuer, [TENANT.issuer]], ids=["issuer", "list"])
async def test_the_audience_is_this_provider(federated: Provider, audience: object) -> None:
    assert (await redeemed(federated, assertion(aud=audience))).access_token


REFUSED: dict[str, dict[str, Any]] = {
    "another audience": {"aud": "https://other.example.com"},
    "our client id there": {"aud": "gnomon"},
    "the token endpoint": {"aud": f"{TENANT.issuer}oidc/token"},
    "a further audience": {"aud": [TENANT.issuer, "https://other.example.com"]},
    "another tenant": {"aud": ACME.issuer},
    "no audience": {"aud": None},
    "an audience of another type": {"aud": {"a": 1}},
    "another issuer": {"iss": "https://evil.example.com"},
    "no issuer": {"iss": None},
    "expired": {"exp": NOW},
    "no expiry": {"exp": None},
    "an expiry of another type": {"exp": str(NOW + 300)},
    "too long": {"exp": NOW + 3606},
    "for ever": {"exp": 1e300},
    "not valid yet": {"nbf": NOW + 6},
    "issued in the future": {"iat": NOW + 6},
    "issued at no number": {"iat": str(NOW)},
    "no jti": {"jti": None},
    "an empty jti": {"jti": ""},
    "a long jti": {"jti": "j" * 257},
    "no subject": {"sub": None},
    "a subject of another type": {"sub": 1},
    "a subject that nobody linked": {"sub": "bob@corp"},
    "the user id of the account": {"sub": ADA.id},
    "an administrator's wish": {"sub": "ada@corp", "azp": "other"},
    "another client": {"client_id": "other"},
    "an unknown confirmation": {"cnf": {"x5t#S256": "A" * 43, "jkt": "B"}},
    "a confirmation of another type": {"cnf": "key"},
}


@pytest.mark.parametrize("claims", REFUSED.values(), ids=REFUSED)
async def test_an_assertion_that_does_not_hold_is_refused(
    federated: Provider, records: RecordStore, claims: dict[str, Any]
) -> None:
    with pytest.raises(InvalidGrant):
        await redeemed(federated, assertion(**claims))

    assert not await records.of(TOKEN_SETS).page(TENANT.tenant_id)


@pytest.mark.parametrize(("seconds", "is_good"), [(3600, True), (3605, True), (3606, False)])
async def test_an_assertion_is_valid_for_an_hour_at_most(
    federated: Provider,
    seconds: int,
    is_good: bool,  # noqa: FBT001
) -> None:
    if is_good:
        assert (await redeemed(federated, assertion(exp=NOW + seconds))).access_token
    else:
        with pytest.raises(InvalidGrant, match="within 3600 seconds"):
            await redeemed(federated, assertion(exp=NOW + seconds))


async def test_signatures_of_other_keys_algorithms_and_types_are_refused(federated: Provider) -> None:
    for text in (
        assertion(ECKey.generate_key("P-256")),
        assertion(OctKey.generate_key(256), alg="HS256"),
        assertion(header={"typ": "at+jwt"}),
        assertion(header={"typ": "logout+jwt"}),
        assertion() + "x",
        "e30.e30.",
        "x",
    ):
        with pytest.raises(InvalidGrant):
            await redeemed(federated, text)
    assert (await redeemed(federated, assertion(header={"typ": "JWT"}))).access_token


async def test_without_an_assertion_the_request_is_invalid(federated: Provider) -> None:
    with pytest.raises(InvalidRequest):
        await redeemed(federated, "")


async def test_a_client_redeems_assertions_of_providers_that_it_names(federated: Provider) -> None:
    await federated.change_client(assertion_providers=())

    with pytest.raises(InvalidGrant, match="of this issuer"):
        await redeemed(federated, assertion())


async def test_a_disabled_provider_and_a_saml_provider_vouch_for_nobody(
    federated: Provider, records: RecordStore
) -> None:
    await change_corp(records, is_enabled=False)
    with pytest.raises(InvalidGrant):
        await redeemed(federated, assertion())

    await change_corp(records, is_enabled=True, saml=SamlFields(certificates=("A",)))

    with pytest.raises(InvalidGrant):
        await redeemed(federated, assertion())


async def test_an_access_token_of_this_provider_is_no_assertion(
    federated: Provider, records: RecordStore
) -> None:
    await change_corp(records, issuer=TENANT.issuer)
    token = (await federated.sign_in()).access_token

    with pytest.raises(InvalidGrant):
        await redeemed(federated, token)


async def test_the_user_has_to_be_one_whom_the_client_takes(federated: Provider) -> None:
    await federated.change_client(requires_mfa=True)
    with pytest.raises(InvalidGrant, match="second factor"):
        await redeemed(federated, assertion())
    assert (await redeemed(federated, assertion(amr=["pwd", "mfa"]))).access_token

    await federated.change_client(requires_mfa=False, restrict_group_prefix="nobody")

    with pytest.raises(InvalidGrant, match="groups"):
        await redeemed(federated, assertion(jti="2"))


async def test_a_disabled_user_gets_no_token(federated: Provider) -> None:
    issued = await redeemed(federated, assertion())

    await federated.change_user(is_enabled=False)

    assert not await federated.is_active(issued.access_token)
    with pytest.raises(InvalidGrant):
        await redeemed(federated, assertion(jti="2"))


async def test_scopes_and_targets_are_those_of_the_client(federated: Provider) -> None:
    issued = await redeemed(federated, assertion(), oauth_scopes=("job:work",))

    assert issued.oauth_scopes == ("job:work", "email")
    for scope in ("openid", "offline_access", "process:deploy"):
        with pytest.raises(InvalidScope):
            await redeemed(federated, assertion(jti="2"), oauth_scopes=(scope,))
    with pytest.raises(InvalidTarget):
        await redeemed(federated, assertion(jti="2"), resources=("https://other.example.com",))


async def test_a_client_that_asks_for_consent_gets_what_the_user_granted(
    federated: Provider, records: RecordStore
) -> None:
    await federated.change_client(consent=ConsentMode.ONCE, default_scopes=("email", "phone"))
    with pytest.raises(InvalidGrant, match="consented"):
        await redeemed(federated, assertion())
    await records.of(CONSENTS).insert(
        Consent(
            tenant_id=TENANT.tenant_id,
            id="consent",
            user_id=UserId(ADA.id),
            client_id=ClientId("app"),
            pair=pair_of(UserId(ADA.id), ClientId("app")),
            terms=Terms(oauth_scopes=("openid", "email")),
            granted_at=NOON,
        )
    )

    issued = await redeemed(federated, assertion())

    assert issued.oauth_scopes == ("email",)
    with pytest.raises(InvalidScope):
        await redeemed(federated, assertion(jti="2"), oauth_scopes=("phone",))
    await federated.change_client(consent=ConsentMode.ALWAYS)
    with pytest.raises(InvalidGrant, match="consented"):
        await redeemed(federated, assertion(jti="2"))


async def test_a_pairwise_client_gets_its_own_subject(federated: Provider) -> None:
    await federated.change_client(subject_type=SubjectType.PAIRWISE)

    issued = await redeemed(federated, assertion())

    assert (await federated.claims(issued.access_token))["sub"] != ADA.id
    assert await federated.is_active(issued.access_token)


async def test_the_grant_is_for_confidential_clients_that_have_it(federated: Provider) -> None:
    await federated.change_client(grant_types=frozenset({GrantType.CLIENT_CREDENTIALS}))
    with pytest.raises(UnauthorizedClient):
        await redeemed(federated, assertion())

    await federated.change_client(
        grant_types=frozenset(GrantType), token_endpoint_auth_method=AuthenticationMethod.NONE
    )

    with pytest.raises(UnauthorizedClient):
        await redeemed(federated, assertion())


async def test_another_tenant_does_not_know_the_provider(federated: Provider) -> None:
    await federated.change_client(tenant_ids=(TENANT.tenant_id, ACME.tenant_id))

    with pytest.raises(InvalidGrant, match="of this issuer"):
        await redeemed(federated, assertion(aud=ACME.issuer), tenant=ACME)


async def test_an_assertion_that_is_bound_to_a_key_needs_its_proof(relaxed: Provider) -> None:
    bound = assertion(cnf={"jkt": KEY.thumbprint()})
    with pytest.raises(InvalidDpopProof):
        await redeemed(relaxed, bound)
    with pytest.raises(InvalidDpopProof):
        await redeemed(relaxed, bound, dpop=proof(key=ECKey.generate_key("P-256")))

    issued = await redeemed(relaxed, bound, dpop=proof(jti="2"))

    assert issued.token_type is TokenType.DPOP


async def test_a_stranger_who_finds_the_assertion_cannot_use_it(federated: Provider) -> None:
    stranger = ClientCredentials(AuthenticationMethod.NONE, AS_APP.client_id)

    with pytest.raises(Exception, match="client authentication failed"):
        await redeemed(federated, assertion(), credentials=stranger)
