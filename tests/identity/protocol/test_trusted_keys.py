"""A key inside a token is never used to verify it: RFC 8725 §3.1, §3.10."""

import json
from collections.abc import Mapping
from typing import Any

import msgspec
import pytest
from joserfc import jws
from joserfc.jwk import ECKey, OctKey

from identity.access.client_authentication.authenticator import ClientCredentials
from identity.access.tokens.verification import verified
from identity.crypto.jose.algorithms import SigningAlgorithm
from identity.crypto.signed_jwt import ForeignSignatures
from identity.foundation.errors import InvalidClient, InvalidToken
from identity.foundation.vocabulary import AuthenticationMethod, GrantType
from tests.identity.protocol.provider import NOON, TENANT, FixedKeys, Provider

OURS = SigningAlgorithm.ES256.value
FOREIGN = ECKey.generate_key("P-256")
NOW = int(NOON.timestamp())

BROUGHT = [
    pytest.param({"jwk": FOREIGN.as_dict(private=False)}, id="the key itself"),
    pytest.param({"jku": "https://evil.example/keys"}, id="the address of a key set"),
    pytest.param({"x5u": "https://evil.example/certificate"}, id="the address of a certificate"),
    pytest.param({"x5c": ["AAAA"]}, id="a certificate"),
    pytest.param({"kid": "https://evil.example/keys"}, id="an address for a name"),
    pytest.param({"kid": "../../dev/null"}, id="a path for a name"),
]


def signed(claims: Mapping[str, Any], header: Mapping[str, Any], key: ECKey | OctKey, alg: str) -> str:
    registry = ForeignSignatures(algorithms=[alg], strict_check_header=False)
    return jws.serialize_compact({"alg": alg, **header}, json.dumps(claims).encode(), key, registry=registry)


@pytest.mark.parametrize("header", BROUGHT)
async def test_a_token_is_not_checked_with_what_it_brings(
    provider: Provider, header: Mapping[str, Any]
) -> None:
    issued = await provider.ask(GrantType.CLIENT_CREDENTIALS)
    claims = await provider.claims(issued.access_token)

    with pytest.raises(InvalidToken):
        await verified(signed(claims, {"kid": OURS, **header}, FOREIGN, "ES256"), TENANT, provider.keys)


async def test_a_published_key_is_no_shared_secret(provider: Provider, keys: FixedKeys) -> None:
    issued = await provider.ask(GrantType.CLIENT_CREDENTIALS)
    claims = await provider.claims(issued.access_token)
    key = keys.keys.find(OURS)
    assert key is not None
    shared = OctKey.import_key(msgspec.json.encode(key.public_key.as_dict(private=False)))

    with pytest.raises(InvalidToken):
        await verified(signed(claims, {"kid": OURS}, shared, "HS256"), TENANT, provider.keys)


@pytest.mark.parametrize("header", BROUGHT)
async def test_a_client_is_not_proved_by_a_key_that_its_assertion_brings(
    provider: Provider, header: Mapping[str, Any]
) -> None:
    own = ECKey.generate_key("P-256")
    await provider.change_client(
        jwks=json.dumps({"keys": [own.as_dict(private=False)]}),
        token_endpoint_auth_method=AuthenticationMethod.PRIVATE_KEY_JWT,
    )
    claims = {"iss": "app", "sub": "app", "aud": TENANT.issuer, "jti": "1", "exp": NOW + 60}
    assertion = signed(claims, header, FOREIGN, "ES256")
    credentials = ClientCredentials(AuthenticationMethod.PRIVATE_KEY_JWT, "app", client_assertion=assertion)

    with pytest.raises(InvalidClient):
        await provider.authenticator.authenticate(credentials, TENANT)
