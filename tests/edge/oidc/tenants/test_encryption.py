"""ID tokens, userinfo and authorization responses that are encrypted to their client."""

from typing import Any

import msgspec
import pytest
from joserfc import jwe, jwt
from joserfc.jwk import ECKey, Key, KeySet, OKPKey, RSAKey

from tests.edge.oidc.tenants.world import CALLBACK, VERIFIER, World

SIGNING = ECKey.generate_key("P-256", {"use": "sig", "kid": "signs"})
KEYS: dict[str, Key] = {
    "RSA": RSAKey.generate_key(2048, {"use": "enc", "kid": "encrypts"}),
    "P-256": ECKey.generate_key("P-256", {"use": "enc", "kid": "encrypts"}),
    "P-521": ECKey.generate_key("P-521", {"use": "enc", "kid": "encrypts"}),
    "X25519": OKPKey.generate_key("X25519", {"use": "enc", "kid": "encrypts"}),
}
SECRET = {"token_endpoint_auth_method": "client_secret_post"}


def key_set(*keys: Key) -> dict[str, Any]:
    return {"keys": [key.as_dict(private=False) for key in keys]}


def metadata(alg: str, enc: str = "", *, of: str) -> dict[str, str]:
    named = {f"{of}_encrypted_response_alg": alg, f"{of}_encrypted_response_enc": enc}
    return {name: value for name, value in named.items() if value}


class Client:
    """A client whose documents are encrypted."""

    def __init__(self, provider: World, secret: str = "") -> None:
        self.provider = provider
        self.secret = secret

    async def register(self, key: Key, **more: Any) -> None:
        new = {"id": "sealed", "confidential": True, "redirect_uris": [CALLBACK]}
        created = await self.provider.administer("POST", "clients", json=new)
        self.secret = (await created.json())["secret"]
        answer = await self.change(key, **more)
        assert answer == 200

    async def change(self, *keys: Key, **more: Any) -> int:
        body = {
            "id": "sealed",
            "confidential": True,
            "redirect_uris": [CALLBACK],
            "enabled": True,
            "flows_enabled": ["authorization_code"],
            "scopes": ["openid", "email"],
            "default_scopes": ["openid"],
            "challenges": [],
            "jwks": key_set(SIGNING, *keys),
            **SECRET,
            **more,
        }
        return (await self.provider.administer("PUT", "clients/sealed", json=body)).status

    async def response(self, **parameters: str) -> dict[str, str]:
        address = self.provider.authorization(client_id="sealed")
        more = "".join(f"&{name}={value}" for name, value in parameters.items())
        arrival = await self.provider.person("", lambda person: person.sign_in(f"{address}{more}"))
        return arrival.parameters

    async def redeem(self, code: str) -> tuple[int, Any]:
        form = {"grant_type": "authorization_code", "code": code, "redirect_uri": CALLBACK}
        proof = {"client_id": "sealed", "client_secret": self.secret, "code_verifier": VERIFIER}
        answer = await self.provider.http.post(f"{self.provider.issuer()}oidc/token", data=form | proof)
        return answer.status, await answer.json()

    async def tokens(self) -> Any:
        status, tokens = await self.redeem((await self.response())["code"])
        assert status == 200, tokens
        return tokens

    async def verified(self, token: str) -> Any:
        document: Any = await self.provider.metadata()
        keys = await (await self.provider.http.get(document["jwks_uri"])).json()
        return jwt.decode(token, KeySet.import_key_set(keys), algorithms=["RS256"]).claims


@pytest.fixture
async def client(provider: World) -> Client:
    await provider.add_user("default", "alice")
    return Client(provider)


ALGORITHMS = [
    ("RSA-OAEP-256", "A128CBC-HS256", "RSA"),
    ("RSA-OAEP-256", "A256GCM", "RSA"),
    ("ECDH-ES", "A128GCM", "P-256"),
    ("ECDH-ES+A128KW", "A256CBC-HS512", "P-521"),
    ("ECDH-ES+A256KW", "A256GCM", "X25519"),
]


@pytest.mark.parametrize(("alg", "enc", "kind"), ALGORITHMS)
async def test_an_id_token_is_signed_and_then_encrypted(
    client: Client, alg: str, enc: str, kind: str
) -> None:
    await client.register(KEYS[kind], **metadata(alg, enc, of="id_token"))

    tokens = await client.tokens()

    opened = jwe.decrypt_compact(tokens["id_token"], KEYS[kind], algorithms=[alg, enc])
    assert opened.protected.items() >= {"alg": alg, "enc": enc, "cty": "JWT", "kid": "encrypts"}.items()
    claims = await client.verified((opened.plaintext or b"").decode())
    assert (claims["aud"], claims["sub"]) == ("sealed", "alice")
    assert (await client.verified(tokens["access_token"]))["sub"] == "alice"


@pytest.mark.parametrize("signed", [True, False])
async def test_userinfo_is_encrypted(client: Client, *, signed: bool) -> None:
    signature = {"userinfo_signed_response_alg": "RS256"} if signed else {}
    await client.register(KEYS["P-256"], **metadata("ECDH-ES", "A256GCM", of="userinfo"), **signature)
    token = (await client.tokens())["access_token"]

    answer = await client.provider.http.get(
        f"{client.provider.issuer()}oidc/userinfo", headers={"Authorization": f"Bearer {token}"}
    )

    assert (answer.status, answer.content_type) == (200, "application/jwt")
    opened = jwe.decrypt_compact(await answer.text(), KEYS["P-256"], algorithms=["ECDH-ES", "A256GCM"])
    text = (opened.plaintext or b"").decode()
    claims = await client.verified(text) if signed else msgspec.json.decode(text)
    assert claims["email"] == "alice@example.com"
    assert ("cty" in opened.protected) is signed


async def test_a_signed_authorization_response_is_encrypted(client: Client) -> None:
    await client.register(KEYS["X25519"], **metadata("ECDH-ES", "A128GCM", of="authorization"))

    plain, sealed = await client.response(), await client.response(response_mode="jwt")

    opened = jwe.decrypt_compact(sealed["response"], KEYS["X25519"], algorithms=["ECDH-ES", "A128GCM"])
    claims = await client.verified((opened.plaintext or b"").decode())
    assert (await client.redeem(claims["code"]))[0] == 200
    assert "code" in plain


@pytest.mark.parametrize(
    "more",
    [
        pytest.param(metadata("RSA-OAEP-256", of="id_token"), id="no key of this type"),
        pytest.param(metadata("RSA1_5", of="id_token"), id="an algorithm that leaks"),
        pytest.param(metadata("dir", of="userinfo"), id="a shared key"),
        pytest.param(metadata("ECDH-ES", "A128CBC", of="userinfo"), id="no such encryption"),
        pytest.param(metadata("", "A256GCM", of="authorization"), id="no algorithm of the key"),
        pytest.param({**metadata("ECDH-ES", of="id_token"), "jwks": key_set(SIGNING)}, id="a key that signs"),
    ],
)
async def test_metadata_that_cannot_be_followed_is_refused(client: Client, more: dict[str, Any]) -> None:
    await client.register(KEYS["P-256"])

    assert await client.change(KEYS["P-256"], **more) == 400


async def test_without_a_key_of_the_client_nothing_is_sent_in_the_clear(client: Client) -> None:
    """A code stays valid while the address of the client's keys does not answer."""
    await client.register(KEYS["P-256"])
    address = {"jwks": None, "jwks_uri": "https://keys.example.invalid/jwks"}
    code = (await client.response())["code"]
    assert await client.change(**metadata("ECDH-ES", of="id_token"), **address) == 200

    refused, _ = await client.redeem(code)
    assert await client.change(KEYS["P-256"], **metadata("ECDH-ES", of="id_token")) == 200
    status, tokens = await client.redeem(code)

    assert (refused, status) == (503, 200)
    assert tokens["id_token"].count(".") == 4


async def test_a_key_for_encryption_proves_nothing(client: Client) -> None:
    sealing = KEYS["P-256"]
    await client.register(sealing, token_endpoint_auth_method="private_key_jwt")
    now = int(client.provider.deployment.clock.now().timestamp())
    claims = {"iss": "sealed", "sub": "sealed", "aud": client.provider.issuer(), "jti": "1", "exp": now + 60}
    form = {
        "grant_type": "authorization_code",
        "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
    }

    async def status(key: Key) -> Any:
        signs = ECKey.import_key(key.as_dict(private=True) | {"use": "sig"})
        assertion = jwt.encode({"alg": "ES256"}, claims | {"jti": str(key.kid)}, signs)
        sent = form | {"client_assertion": assertion}
        answer = await client.provider.http.post(f"{client.provider.issuer()}oidc/token", data=sent)
        return (await answer.json())["error"]

    assert [await status(sealing), await status(SIGNING)] == ["invalid_client", "invalid_request"]


async def test_the_metadata_names_the_algorithms(provider: World) -> None:
    document: Any = await provider.metadata()

    for of in ("id_token", "userinfo", "authorization"):
        assert document[f"{of}_encryption_alg_values_supported"] == [
            "RSA-OAEP-256",
            "ECDH-ES",
            "ECDH-ES+A128KW",
            "ECDH-ES+A256KW",
        ]
        assert "A256GCM" in document[f"{of}_encryption_enc_values_supported"]
