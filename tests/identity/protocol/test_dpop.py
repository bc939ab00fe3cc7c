"""The negative tests of the FAPI 2 conformance suite, and further requirements of RFC 9449."""

import base64
import hashlib
import json
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from joserfc import jws
from joserfc.jwk import ECKey, Key, OctKey, OKPKey, RSAKey

from identity.access.dpop.config import DpopConfig
from identity.crypto.signed_jwt import CLIENT_ALGORITHMS, ForeignSignatures
from identity.foundation.errors import InvalidDpopProof, InvalidToken, ProtocolError, UseDpopNonce
from identity.foundation.vocabulary import TokenType
from identity.protocol.grants.pipeline import IssuedTokens
from identity.protocol.userinfo.presented import PresentedToken
from tests.identity.protocol.provider import NOON, TENANT, Provider

KEY = ECKey.generate_key("P-256")
KEYS: dict[str, Key] = {
    "ES256": KEY,
    "EdDSA": OKPKey.generate_key("Ed25519"),
    "RS256": RSAKey.generate_key(2048),
    "PS256": RSAKey.generate_key(2048),
}
NOW = int(NOON.timestamp())
TOKEN_PATH = "/auth/v1/oidc/token"
USER_INFO_PATH = "/auth/v1/oidc/userinfo"
TOKEN_ENDPOINT = f"https://id.example.com{TOKEN_PATH}"
CLAIMS: dict[str, Any] = {"jti": "1", "htm": "POST", "htu": TOKEN_ENDPOINT, "iat": NOW}
NONE = object()


def without(members: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value is not NONE}


def proof(
    *, key: Key = KEY, path: str = TOKEN_PATH, method: str = "POST", header: Any = None, **claims: Any
) -> SimpleNamespace:
    """Return a valid proof for the token endpoint, with these changes."""
    alg = next(name for name, known in ({**KEYS, "ES256": KEY}).items() if type(known) is type(key))
    members = {"typ": "dpop+jwt", "alg": alg, "jwk": key.as_dict(private=False)} | (header or {})
    registry = ForeignSignatures(algorithms=[members["alg"]], strict_check_header=False)
    text = jws.serialize_compact(
        without(members), json.dumps(without(CLAIMS | claims)).encode(), key, registry=registry
    )
    return SimpleNamespace(proof=text, http_method=method, path=path)


def encoded(document: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(document).encode()).rstrip(b"=").decode()


def ath(token: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(token.encode()).digest()).rstrip(b"=").decode()


@pytest.fixture
def relaxed(provider: Provider) -> Provider:
    """A provider that requires no nonce."""
    return Provider(provider.records, provider.clock, provider.keys, dpop=DpopConfig(nonce_lifetime_secs=0))


@pytest.mark.parametrize("algorithm", CLIENT_ALGORITHMS)
async def test_a_proof_names_the_key_by_its_thumbprint(relaxed: Provider, algorithm: str) -> None:
    key = KEYS[algorithm]

    jkt = await relaxed.proofs.thumbprint(TENANT, proof(key=key, header={"alg": algorithm}))

    assert key.thumbprint() == jkt


GOOD = [
    pytest.param({"iat": NOW - 10}, id="made ten seconds ago"),
    pytest.param({"iat": NOW - 60}, id="made a minute ago"),
    pytest.param({"iat": NOW + 10}, id="a clock that is ten seconds ahead"),
    pytest.param({"htu": f"{TOKEN_ENDPOINT}?a=b#c"}, id="query and fragment are ignored"),
    pytest.param({"htu": f"HTTPS://ID.example.COM{TOKEN_PATH}"}, id="case of scheme and host"),
    pytest.param({"htu": f"https://id.example.com:443{TOKEN_PATH}"}, id="default port written"),
    pytest.param({"nbf": NOW - 1, "exp": NOW + 60, "extra": [1]}, id="more claims"),
    pytest.param({"header": {"x-more": "y"}}, id="more header members"),
]


@pytest.mark.parametrize("fields", GOOD)
async def test_a_proof_that_is_right_is_taken(relaxed: Provider, fields: dict[str, Any]) -> None:
    assert KEY.thumbprint() == await relaxed.proofs.thumbprint(TENANT, proof(**fields))


BAD = [
    pytest.param({"header": {"typ": NONE}}, id="no typ"),
    pytest.param({"header": {"typ": "JWT"}}, id="wrong typ"),
    pytest.param({"header": {"jwk": NONE}}, id="no jwk"),
    pytest.param({"header": {"jwk": KEY.as_dict(private=True)}}, id="private key in the header"),
    pytest.param({"header": {"jwk": KEYS["EdDSA"].as_dict(private=False)}}, id="another key in the header"),
    pytest.param({"jti": NONE}, id="no jti"),
    pytest.param({"jti": 1}, id="jti that is no text"),
    pytest.param({"jti": "x" * 257}, id="jti too long"),
    pytest.param({"htm": NONE}, id="no htm"),
    pytest.param({"htm": "GET"}, id="another method"),
    pytest.param({"htm": "post"}, id="method in lower case"),
    pytest.param({"htu": NONE}, id="no htu"),
    pytest.param({"htu": f"https://id.example.com{USER_INFO_PATH}"}, id="another path"),
    pytest.param({"htu": f"https://evil.example.com{TOKEN_PATH}"}, id="another host"),
    pytest.param({"htu": f"http://id.example.com{TOKEN_PATH}"}, id="another scheme"),
    pytest.param({"htu": f"https://id.example.com:8443{TOKEN_PATH}"}, id="another port"),
    pytest.param({"htu": f"https://id.example.com@evil.example.com{TOKEN_PATH}"}, id="user in the address"),
    pytest.param({"htu": "https://[::1"}, id="no address"),
    pytest.param({"iat": NONE}, id="no iat"),
    pytest.param({"iat": NOW - 3600}, id="an hour old"),
    pytest.param({"iat": NOW + 3600}, id="of the future"),
    pytest.param({"iat": NOW - 61}, id="just too old"),
    pytest.param({"iat": NOW + 11}, id="just too early"),
    pytest.param({"iat": "now"}, id="iat that is no number"),
]


@pytest.mark.parametrize("fields", BAD)
async def test_a_proof_that_is_wrong_is_refused(relaxed: Provider, fields: dict[str, Any]) -> None:
    with pytest.raises(InvalidDpopProof):
        await relaxed.proofs.thumbprint(TENANT, proof(**fields))


def _unsigned(alg: Any) -> str:
    header = without({"typ": "dpop+jwt", "alg": alg, "jwk": KEY.as_dict(private=False)})
    return f"{encoded(header)}.{encoded(CLAIMS)}."


def _symmetric() -> str:
    key = OctKey.generate_key(256)
    header = {"typ": "dpop+jwt", "alg": "HS256", "jwk": key.as_dict()}
    registry = ForeignSignatures(algorithms=["HS256"])
    return jws.serialize_compact(header, json.dumps(CLAIMS).encode(), key, registry=registry)


MALFORMED = [
    pytest.param("", id="empty"),
    pytest.param("nonsense", id="no JWT"),
    pytest.param("a.b.c", id="no base64"),
    pytest.param(_unsigned("none"), id="alg none"),
    pytest.param(_unsigned(NONE), id="no alg"),
    pytest.param(_unsigned("ES256"), id="no signature"),
    pytest.param(_symmetric(), id="symmetric key"),
    pytest.param(f"{proof().proof}, {proof().proof}", id="two proofs"),
    pytest.param(proof().proof[:-8] + "AAAAAAAA", id="bad signature"),
]


@pytest.mark.parametrize("text", MALFORMED)
async def test_what_is_no_proof_is_refused(relaxed: Provider, text: str) -> None:
    with pytest.raises(InvalidDpopProof):
        await relaxed.proofs.thumbprint(
            TENANT, SimpleNamespace(proof=text, http_method="POST", path=TOKEN_PATH)
        )


async def test_a_weak_key_proves_nothing(relaxed: Provider) -> None:
    header = {"jwk": {"kty": "RSA", "n": "x" * 171, "e": "AQAB"}}

    with pytest.raises(InvalidDpopProof):
        await relaxed.proofs.thumbprint(TENANT, proof(header=header))


async def test_a_proof_is_good_once(relaxed: Provider) -> None:
    once = proof()
    await relaxed.proofs.thumbprint(TENANT, once)

    with pytest.raises(InvalidDpopProof):
        await relaxed.proofs.thumbprint(TENANT, once)


async def test_without_a_nonce_of_ours_a_proof_is_sent_back_with_one_and_not_used_up(
    provider: Provider,
) -> None:
    with pytest.raises(UseDpopNonce) as refusal:
        await provider.proofs.thumbprint(TENANT, proof())

    nonce = refusal.value.metadata["nonce"]
    assert nonce == provider.nonces.current(TENANT)
    assert await provider.proofs.thumbprint(TENANT, proof(nonce=nonce))


@pytest.mark.parametrize(("seconds", "is_good"), [(900, True), (1800, False)])
async def test_a_nonce_is_good_for_a_while(provider: Provider, seconds: int, is_good: bool) -> None:  # noqa: FBT001
    nonce = provider.nonces.current(TENANT)
    provider.clock.advance(timedelta(seconds=seconds))

    assert provider.nonces.is_fresh(TENANT, nonce) is is_good


async def test_a_nonce_of_another_provider_is_none_of_ours(provider: Provider) -> None:
    with pytest.raises(UseDpopNonce):
        await provider.proofs.thumbprint(TENANT, proof(nonce="0" * 32))


async def test_tokens_of_a_proved_key_are_bound_to_it(relaxed: Provider) -> None:
    issued = await relaxed.redeem(await relaxed.code(), dpop=proof())

    claims = await relaxed.claims(issued.access_token)
    assert (issued.token_type, claims["typ"]) == (TokenType.DPOP, "DPoP")
    assert {"jkt": KEY.thumbprint()} == claims["cnf"]


async def test_a_refused_proof_does_not_use_the_code_up(provider: Provider) -> None:
    code = await provider.code()
    with pytest.raises(UseDpopNonce):
        await provider.redeem(code, dpop=proof())

    nonce = provider.nonces.current(TENANT)
    issued = await provider.redeem(code, dpop=proof(jti="2", nonce=nonce))

    assert (issued.token_type, issued.dpop_nonce) == (TokenType.DPOP, nonce)


@pytest.mark.parametrize("grant_type", ["code", "client_credentials"])
async def test_a_client_of_bound_tokens_gets_none_without_a_proof(relaxed: Provider, grant_type: str) -> None:
    await relaxed.change_client(requires_dpop=True)

    async def ask(**fields: Any) -> IssuedTokens:
        if grant_type == "code":
            return await relaxed.redeem(code, **fields)
        return await relaxed.ask(grant_type, **fields)

    code = await relaxed.code()
    with pytest.raises(InvalidDpopProof):
        await ask()
    assert (await ask(dpop=proof())).token_type is TokenType.DPOP


async def test_a_code_that_was_asked_for_with_a_key_needs_it(relaxed: Provider) -> None:
    code = await relaxed.code(dpop_jkt=KEY.thumbprint())

    with pytest.raises(InvalidDpopProof):
        await relaxed.redeem(code)
    with pytest.raises(InvalidDpopProof):
        await relaxed.redeem(await relaxed.code(dpop_jkt="ñ"), dpop=proof(jti="0"))
    with pytest.raises(InvalidDpopProof):
        await relaxed.redeem(code, dpop=proof(key=ECKey.generate_key("P-256")))
    assert (await relaxed.redeem(code, dpop=proof(jti="2"))).access_token


async def test_what_is_bound_stays_bound_when_it_is_refreshed(relaxed: Provider) -> None:
    issued = await relaxed.redeem(await relaxed.code(), dpop=proof())

    with pytest.raises(InvalidDpopProof):
        await relaxed.refresh(issued.refresh_token)
    with pytest.raises(InvalidDpopProof):
        await relaxed.refresh(issued.refresh_token, dpop=proof(key=ECKey.generate_key("P-256")))
    refreshed = await relaxed.refresh(issued.refresh_token, dpop=proof(jti="2"))

    assert refreshed.token_type is TokenType.DPOP


async def presented(provider: Provider, token: str, *, is_dpop: bool = True, **fields: Any) -> Any:
    shown = None
    if fields.pop("is_proved", True):
        htu = f"https://id.example.com{USER_INFO_PATH}"
        shown = proof(
            **{"path": USER_INFO_PATH, "method": "GET", "htm": "GET", "htu": htu, "jti": "9"} | fields
        )
    return await provider.user_info.of(
        TENANT, PresentedToken(access_token=token, is_dpop=is_dpop, proof=shown)
    )


RESOURCE: list[Any] = [
    pytest.param(InvalidDpopProof, {}, id="no ath"),
    pytest.param(InvalidDpopProof, {"ath": "x" * 43}, id="wrong ath"),
    pytest.param(InvalidDpopProof, {"is_proved": False}, id="no proof"),
    pytest.param(InvalidToken, {"is_proved": False, "is_dpop": False}, id="no proof under Bearer"),
    pytest.param(InvalidToken, {"is_dpop": False}, id="proof under Bearer"),
]


@pytest.mark.parametrize(("error", "fields"), RESOURCE)
async def test_a_bound_token_is_nothing_without_its_proof(
    relaxed: Provider, error: type[ProtocolError], fields: dict[str, Any]
) -> None:
    issued = await relaxed.redeem(await relaxed.code(), dpop=proof())

    with pytest.raises(error):
        await presented(relaxed, issued.access_token, **fields)


async def test_a_bound_token_needs_the_key_that_it_is_bound_to(relaxed: Provider) -> None:
    token = (await relaxed.redeem(await relaxed.code(), dpop=proof())).access_token

    with pytest.raises(InvalidDpopProof):
        await presented(relaxed, token, ath=ath(token), key=ECKey.generate_key("P-256"))

    assert (await presented(relaxed, token, ath=ath(token))).claims["sub"]


async def test_a_token_that_is_bound_to_no_key_does_not_come_under_dpop(relaxed: Provider) -> None:
    token = (await relaxed.sign_in()).access_token

    with pytest.raises(InvalidToken):
        await presented(relaxed, token, ath=ath(token))
