"""Client authentication by certificate, and tokens that are bound to one: RFC 8705."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from ipaddress import ip_address
from typing import Any

import pytest
from cryptography import x509
from joserfc.jwk import ECKey

from identity.access.client_authentication.authenticator import ClientCredentials
from identity.directory.client import CertificateName, CertificateNameType
from identity.foundation.errors import InvalidClient, InvalidGrant, InvalidRequest, InvalidToken
from identity.foundation.vocabulary import AuthenticationMethod, GrantType, TokenType
from identity.protocol.grants.grant import ExchangeRequest, TypedToken
from identity.protocol.grants.pipeline import IssuedTokens
from identity.protocol.grants.token_exchange import ACCESS_TOKEN
from identity.protocol.userinfo.presented import PresentedToken
from server.platform.mutual_tls import thumbprint_of
from tests.identity.certificates import Issued, issue
from tests.identity.protocol.provider import AS_APP, NOON, SECRET, TENANT, Provider, app
from tests.identity.protocol.test_client_authentication import asserted, key_set

AUTHORITY = issue("CN=Authority,O=Example", is_authority=True)
OTHER_AUTHORITY = issue("CN=Authority,O=Example", is_authority=True)
SUBJECT = "CN=robot,OU=Payments,O=Example"
ROBOT = issue(
    SUBJECT,
    AUTHORITY,
    names=(
        x509.DNSName("robot.example.com"),
        x509.UniformResourceIdentifier("spiffe://example.com/robot"),
        x509.IPAddress(ip_address("192.0.2.7")),
        x509.RFC822Name("robot@example.com"),
    ),
)
SELF_SIGNED = issue("CN=anything")
BY_SUBJECT = CertificateName(CertificateNameType.SUBJECT_DN, SUBJECT)


def as_robot(certificate: bytes = ROBOT.der, **fields: Any) -> ClientCredentials:
    default = ClientCredentials(AuthenticationMethod.NONE, "robot", certificate=certificate)
    return replace(default, **fields)


async def add_robot(provider: Provider, **fields: Any) -> None:
    await provider.add_client(
        replace(
            app(provider.secrets),
            id="robot",
            secret_hash=None,
            **{
                "token_endpoint_auth_method": AuthenticationMethod.TLS_CLIENT_AUTH,
                "certificate_name": BY_SUBJECT,
                **fields,
            },
        )
    )


async def is_proved(provider: Provider, credentials: ClientCredentials) -> bool:
    try:
        return (await provider.authenticator.authenticate(credentials, TENANT)).client_id == "robot"
    except InvalidClient as refusal:
        assert refusal.detail == "client authentication failed"  # noqa: PT017  # the same for all
        return False


@pytest.fixture
async def tls(provider: Provider) -> Provider:
    """A provider that trusts an authority, and knows the client `robot` by its subject."""
    await add_robot(provider)
    return Provider(provider.records, provider.clock, provider.keys, authorities=(AUTHORITY.certificate,))


@pytest.fixture
async def self_signed(provider: Provider) -> Provider:
    """A provider that knows the client `robot` by its key."""
    await add_robot(
        provider,
        token_endpoint_auth_method=AuthenticationMethod.SELF_SIGNED_TLS_CLIENT_AUTH,
        certificate_name=None,
        jwks=key_set(ECKey.import_key(SELF_SIGNED.key)),
    )
    return provider


async def change_robot(provider: Provider, **changes: Any) -> None:
    await provider.change_client("robot", **changes)


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        ("subject_dn", SUBJECT),
        ("san_dns", "robot.example.com"),
        ("san_dns", "Robot.Example.COM"),
        ("san_uri", "spiffe://example.com/robot"),
        ("san_ip", "192.0.2.7"),
        ("san_email", "robot@example.com"),
    ],
)
async def test_a_certificate_of_the_authority_with_the_name_proves_the_client(
    tls: Provider, type_: str, value: str
) -> None:
    await change_robot(tls, certificate_name=CertificateName(CertificateNameType(type_), value))

    assert await is_proved(tls, as_robot())


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        ("subject_dn", "CN=robot,O=Example"),
        ("subject_dn", "CN=robot,OU=Payments,O=Example,C=DE"),
        ("subject_dn", "O=Example,OU=Payments,CN=robot"),
        ("subject_dn", "CN=ROBOT,OU=Payments,O=Example"),
        ("subject_dn", "CN=robot+OU=Payments,O=Example"),
        ("san_dns", "example.com"),
        ("san_dns", "*.example.com"),
        ("san_uri", "spiffe://example.com/"),
        ("san_uri", "robot.example.com"),
        ("san_ip", "192.0.2.8"),
        ("san_email", "Robot@example.com"),
    ],
)
async def test_another_name_proves_nothing(tls: Provider, type_: str, value: str) -> None:
    await change_robot(tls, certificate_name=CertificateName(CertificateNameType(type_), value))

    assert not await is_proved(tls, as_robot())


FOREIGN: dict[str, Issued] = {
    "self-signed": issue(SUBJECT),
    "another authority of the same name": issue(SUBJECT, OTHER_AUTHORITY),
    "issued by a client": issue(SUBJECT, ROBOT),
    "expired": issue(SUBJECT, AUTHORITY, until=NOON - timedelta(seconds=1)),
}


@pytest.mark.parametrize("foreign", FOREIGN.values(), ids=FOREIGN)
async def test_a_certificate_that_the_authority_did_not_issue_proves_nothing(
    tls: Provider, foreign: Issued
) -> None:
    assert not await is_proved(tls, as_robot(foreign.der))


async def test_without_authorities_no_certificate_proves_a_name(provider: Provider) -> None:
    await add_robot(provider)

    assert not await is_proved(provider, as_robot())


@pytest.mark.parametrize("certificate", [b"", b"nonsense", ROBOT.der[:-1], ROBOT.der + b"x"])
async def test_a_malformed_certificate_proves_nothing(tls: Provider, certificate: bytes) -> None:
    assert not await is_proved(tls, as_robot(certificate))


async def test_a_certificate_proves_no_client_of_another_method(tls: Provider) -> None:
    for method in (AuthenticationMethod.CLIENT_SECRET_BASIC, AuthenticationMethod.PRIVATE_KEY_JWT):
        await change_robot(tls, token_endpoint_auth_method=method)

        assert not await is_proved(tls, as_robot())


async def test_a_client_with_a_certificate_proves_itself_in_no_other_way(tls: Provider) -> None:
    await change_robot(tls, secret_hash=tls.secrets.hash(SECRET))

    for credentials in (
        as_robot(method=AuthenticationMethod.CLIENT_SECRET_BASIC, client_secret=SECRET),
        as_robot(method=AuthenticationMethod.CLIENT_SECRET_POST, client_secret=SECRET),
        as_robot(b"", method=AuthenticationMethod.CLIENT_SECRET_POST, client_secret=SECRET),
        asserted("nonsense", "robot"),
    ):
        assert not await is_proved(tls, credentials)


async def test_a_self_signed_certificate_of_a_registered_key_proves_the_client(self_signed: Provider) -> None:
    renewed = issue("CN=renewed", key=SELF_SIGNED.key)

    assert await is_proved(self_signed, as_robot(SELF_SIGNED.der))
    assert await is_proved(self_signed, as_robot(renewed.der))


async def test_a_self_signed_certificate_of_another_key_or_time_proves_nothing(self_signed: Provider) -> None:
    expired = issue("CN=anything", key=SELF_SIGNED.key, until=NOON - timedelta(seconds=1))

    for certificate in (issue("CN=anything").der, ROBOT.der, expired.der, b""):
        assert not await is_proved(self_signed, as_robot(certificate))


async def test_keys_of_a_self_signed_certificate_may_be_published(self_signed: Provider) -> None:
    await change_robot(self_signed, jwks="", jwks_uri="https://robot.example.com/keys")
    self_signed.documents.texts["https://robot.example.com/keys"] = key_set(ECKey.import_key(SELF_SIGNED.key))

    assert await is_proved(self_signed, as_robot(SELF_SIGNED.der))


async def own_token(provider: Provider, **credentials: Any) -> IssuedTokens:
    return await provider.ask(GrantType.CLIENT_CREDENTIALS, credentials=as_robot(**credentials))


async def test_a_token_is_bound_to_the_certificate_of_a_client_that_wants_it(tls: Provider) -> None:
    free = await own_token(tls)
    await change_robot(tls, requires_certificate=True)

    bound = await own_token(tls)

    assert "cnf" not in await tls.claims(free.access_token)
    assert (await tls.claims(bound.access_token))["cnf"] == {"x5t#S256": thumbprint_of(ROBOT.der)}
    assert bound.token_type is TokenType.BEARER


async def test_introspection_tells_the_certificate(tls: Provider) -> None:
    await change_robot(tls, requires_certificate=True)
    bound = await own_token(tls)

    found = await tls.introspection.for_client(TENANT, AS_APP, token=bound.access_token)

    assert found["cnf"] == {"x5t#S256": thumbprint_of(ROBOT.der)}


async def test_a_client_with_a_secret_can_have_bound_tokens_too(provider: Provider) -> None:
    await provider.change_client(requires_certificate=True)
    with pytest.raises(InvalidRequest, match="certificate"):
        await provider.sign_in()

    code = await provider.code()
    issued = await provider.redeem(code, credentials=replace(AS_APP, certificate=SELF_SIGNED.der))

    assert (await provider.claims(issued.access_token))["cnf"] == {"x5t#S256": thumbprint_of(SELF_SIGNED.der)}


async def test_a_refused_request_uses_no_code_up(provider: Provider) -> None:
    await provider.change_client(requires_certificate=True)
    code = await provider.code()
    with pytest.raises(InvalidRequest):
        await provider.redeem(code)

    assert await provider.redeem(code, credentials=replace(AS_APP, certificate=SELF_SIGNED.der))


async def test_a_refreshed_token_is_bound_to_the_certificate_of_its_request(provider: Provider) -> None:
    await provider.change_client(requires_certificate=True)
    first = replace(AS_APP, certificate=SELF_SIGNED.der)
    issued = await provider.redeem(await provider.code(), credentials=first)
    with pytest.raises(InvalidRequest):
        await provider.refresh(issued.refresh_token)

    renewed = await provider.refresh(issued.refresh_token, credentials=replace(first, certificate=ROBOT.der))

    assert (await provider.claims(renewed.access_token))["cnf"] == {"x5t#S256": thumbprint_of(ROBOT.der)}


def presented(token: str, certificate: bytes) -> PresentedToken:
    return PresentedToken(access_token=token, is_dpop=False, proof=None, certificate=certificate)


async def test_a_bound_token_counts_with_its_certificate_alone(provider: Provider) -> None:
    await provider.change_client(requires_certificate=True)
    credentials = replace(AS_APP, certificate=SELF_SIGNED.der)
    token = (await provider.redeem(await provider.code(), credentials=credentials)).access_token

    for certificate in (b"", ROBOT.der):
        with pytest.raises(InvalidToken, match="certificate"):
            await provider.user_info.of(TENANT, presented(token, certificate))
    assert await provider.user_info.of(TENANT, presented(token, SELF_SIGNED.der))


async def test_a_bound_token_is_no_credential_of_introspection(tls: Provider) -> None:
    await change_robot(tls, requires_certificate=True)
    token = (await own_token(tls)).access_token

    with pytest.raises(InvalidToken):
        await tls.introspection.for_bearer(TENANT, token, token=token)


async def exchanged(provider: Provider, token: str, certificate: bytes) -> IssuedTokens:
    return await provider.ask(
        GrantType.TOKEN_EXCHANGE,
        credentials=replace(AS_APP, certificate=certificate),
        exchange=ExchangeRequest(subject=TypedToken(token, ACCESS_TOKEN)),
    )


@pytest.mark.parametrize("certificates", [(b"", ROBOT.der)])
async def test_a_bound_token_is_exchanged_with_its_certificate_and_stays_bound(
    provider: Provider, certificates: Sequence[bytes]
) -> None:
    await provider.change_client(requires_certificate=True)
    credentials = replace(AS_APP, certificate=SELF_SIGNED.der)
    token = (await provider.redeem(await provider.code(), credentials=credentials)).access_token
    await provider.change_client(requires_certificate=False)

    for certificate in certificates:
        with pytest.raises(InvalidGrant, match="certificate"):
            await exchanged(provider, token, certificate)
    issued = await exchanged(provider, token, SELF_SIGNED.der)

    assert (await provider.claims(issued.access_token))["cnf"] == {"x5t#S256": thumbprint_of(SELF_SIGNED.der)}
