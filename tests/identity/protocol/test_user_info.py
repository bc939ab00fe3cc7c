from dataclasses import replace
from typing import Any

import pytest

from identity.crypto.jose.algorithms import SigningAlgorithm
from identity.directory.user import USERS
from identity.foundation.errors import InsufficientScope, InvalidToken
from identity.foundation.vocabulary import GrantType
from identity.protocol.userinfo.presented import PresentedToken
from tests.identity.protocol.provider import ACME, ADA, SIGNED_IN, TENANT, Provider

ALL = ("openid", "profile", "email", "address", "phone", "groups")


def bearer(token: str) -> PresentedToken:
    return PresentedToken(access_token=token, is_dpop=False, proof=None)


async def document(provider: Provider, **code: Any) -> dict[str, object]:
    issued = await provider.sign_in(**code)
    return dict((await provider.user_info.of(TENANT, bearer(issued.access_token))).claims)


async def test_every_scope_opens_its_claims(provider: Provider) -> None:
    claims = await document(provider, oauth_scopes=ALL)

    assert {
        "sub": ADA.id,
        "id": ADA.id,
        "roles": ("engineer",),
        "mfa_enabled": False,
        "groups": ("analysts", "writers"),
        "email": "ada@example.com",
        "email_verified": True,
        "name": "Ada Lovelace",
        "given_name": "Ada",
        "family_name": "Lovelace",
        "preferred_username": "ada",
        "locale": "en",
        "birthdate": "1815-12-10",
        "updated_at": claims["updated_at"],
        "address": {"formatted": "London", "locality": "London"},
        "phone_number": "+44 20",
        "phone_number_verified": False,
    } == claims


@pytest.mark.parametrize("factor", ["has_passkey", "has_one_time_codes"])
async def test_each_second_factor_is_told_of(provider: Provider, factor: str) -> None:
    users = provider.records.of(USERS)
    ada = await users.get(TENANT.tenant_id, ADA.id)
    assert ada is not None
    await users.replace(replace(ada, **{factor: True}))

    assert (await document(provider))["mfa_enabled"] is True


async def test_a_scope_that_was_not_granted_opens_nothing(provider: Provider) -> None:
    claims = await document(provider, oauth_scopes=("openid", "my_email_x"))

    assert claims.keys() == {"sub", "id", "roles", "mfa_enabled"}


async def test_the_claims_parameter_opens_single_claims(provider: Provider) -> None:
    asked = '{"userinfo":{"email":{"essential":true}},"id_token":{"name":null},"x_hints":1}'

    claims = await document(provider, oauth_scopes=("openid",), claims=asked)

    assert claims["email"] == "ada@example.com"
    assert "name" not in claims


async def test_the_document_is_of_now_and_not_of_the_sign_in(provider: Provider) -> None:
    issued = await provider.sign_in()
    await provider.change_user(given_name="Augusta")

    found = await provider.user_info.of(TENANT, bearer(issued.access_token))

    assert found.claims["given_name"] == "Augusta"


async def test_a_client_that_registered_for_it_gets_the_document_signed(provider: Provider) -> None:
    await provider.change_client(userinfo_signed_response_alg=SigningAlgorithm.ES256)
    issued = await provider.sign_in()

    found = await provider.user_info.of(TENANT, bearer(issued.access_token))

    claims = await provider.claims(found.jwt)
    assert (TENANT.issuer, "app", ADA.id) == (claims["iss"], claims["aud"], claims["sub"])


async def test_openid_is_needed(provider: Provider) -> None:
    issued = await provider.sign_in(oauth_scopes=("email",))

    with pytest.raises(InsufficientScope):
        await provider.user_info.of(TENANT, bearer(issued.access_token))


async def test_a_client_in_its_own_name_is_nobody(provider: Provider) -> None:
    issued = await provider.ask(GrantType.CLIENT_CREDENTIALS, oauth_scopes=("openid",))

    for endpoint in (provider.user_info.of, provider.forward.caller):
        with pytest.raises(InsufficientScope):
            await endpoint(TENANT, bearer(issued.access_token))


async def test_no_other_token_is_taken(provider: Provider) -> None:
    issued = await provider.sign_in()

    for token in ("", "nonsense", issued.id_token, issued.refresh_token):
        with pytest.raises(InvalidToken):
            await provider.user_info.of(TENANT, bearer(token))
        with pytest.raises(InvalidToken):
            await provider.forward.caller(TENANT, bearer(token))


async def test_a_token_is_nothing_at_another_tenant(provider: Provider) -> None:
    issued = await provider.sign_in()

    with pytest.raises(InvalidToken):
        await provider.user_info.of(ACME, bearer(issued.access_token))


async def test_a_disabled_person_is_nobody(provider: Provider) -> None:
    issued = await provider.sign_in()
    await provider.change_user(is_enabled=False)

    for endpoint in (provider.user_info.of, provider.forward.caller):
        with pytest.raises(InvalidToken):
            await endpoint(TENANT, bearer(issued.access_token))


async def test_a_proxy_is_told_who_calls(provider: Provider) -> None:
    issued = await provider.sign_in(oauth_scopes=ALL)

    caller = await provider.forward.caller(TENANT, bearer(issued.access_token))

    assert (caller.user_id, caller.roles, caller.groups) == (ADA.id, ADA.roles, ADA.groups)
    assert (caller.email, caller.is_email_verified) == ("ada@example.com", True)
    assert (caller.given_name, caller.family_name, caller.is_mfa) == ("Ada", "Lovelace", False)


async def test_a_proxy_learns_no_more_than_the_scopes_open(provider: Provider) -> None:
    issued = await provider.sign_in(oauth_scopes=("openid",))

    caller = await provider.forward.caller(TENANT, bearer(issued.access_token))

    assert (caller.groups, caller.email, caller.is_email_verified) == ((), "", False)
    assert (caller.given_name, caller.family_name) == ("", "")


@pytest.mark.parametrize(
    ("amr", "is_mfa"),
    [(("pwd",), False), (("pwd", "user"), False), (("pwd", "hwk", "mfa"), True), (("hwk",), True)],
)
async def test_a_proxy_is_told_whether_more_than_a_password_was_asked_for(
    provider: Provider,
    amr: tuple[str, ...],
    is_mfa: bool,  # noqa: FBT001
) -> None:
    signed_in = type(SIGNED_IN)(user_id=SIGNED_IN.user_id, at=SIGNED_IN.at, amr=amr, acr="x")
    issued = await provider.sign_in(authentication=signed_in)

    caller = await provider.forward.caller(TENANT, bearer(issued.access_token))

    assert caller.is_mfa is is_mfa
