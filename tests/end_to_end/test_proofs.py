"""A client calls the process API over HTTP with a token that is bound to its key: RFC 9449 §7."""

import base64
import hashlib
import secrets
import time
from collections.abc import Iterator

import httpx
import msgspec
import pytest
from joserfc import jws
from joserfc.jwk import ECKey

from tests.end_to_end.servers import PLAIN, Server

KEY = ECKey.generate_key("P-256")


def proof(origin: str, method: str, path: str, *, nonce: str, token: str = "") -> str:
    digest = hashlib.sha256(token.encode()).digest()
    ath = {"ath": base64.urlsafe_b64encode(digest).rstrip(b"=").decode()} if token else {}
    claims = {
        "htm": method,
        "htu": f"{origin}{path}",
        "iat": int(time.time()),
        "jti": secrets.token_urlsafe(),
    }
    header = {"alg": "ES256", "typ": "dpop+jwt", "jwk": KEY.as_dict(private=False)}
    registry = jws.JWSRegistry(strict_check_header=False)
    payload = msgspec.json.encode(claims | ath | {"nonce": nonce})
    return jws.serialize_compact(header, payload, KEY, registry=registry)


@pytest.fixture
def client(embedded_server: Server) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=embedded_server.http, verify=PLAIN) as opened:
        yield opened


def test_a_token_that_is_bound_to_a_key_opens_the_process_api_with_a_proof(client: httpx.Client) -> None:
    metadata = client.get("/.well-known/openid-configuration").json()
    origin = metadata["issuer"].removesuffix("/auth/v1/")
    form = {"grant_type": "client_credentials", "client_id": "service", "client_secret": "service-secret"}

    def authorized(nonce: str) -> httpx.Response:
        made = proof(origin, "POST", "/auth/v1/oidc/token", nonce=nonce)
        return client.post("/auth/v1/oidc/token", data=form, headers={"DPoP": made})

    nonce = authorized("").headers["DPoP-Nonce"]
    token = authorized(nonce).raise_for_status().json()["access_token"]

    def called(nonce: str, *, scheme: str = "DPoP") -> httpx.Response:
        made = proof(origin, "POST", "/v2/process-instances/search", nonce=nonce, token=token)
        headers = {"Authorization": f"{scheme} {token}", "DPoP": made}
        return client.post("/v2/process-instances/search", json={}, headers=headers)

    without_nonce, as_bearer, admitted = called(""), called(nonce, scheme="Bearer"), called(nonce)

    assert (without_nonce.status_code, as_bearer.status_code, admitted.status_code) == (401, 401, 200)
    assert without_nonce.headers["WWW-Authenticate"] == 'DPoP error="use_dpop_nonce"'
    assert without_nonce.headers["DPoP-Nonce"] == nonce
    assert as_bearer.headers["WWW-Authenticate"] == "Bearer"
