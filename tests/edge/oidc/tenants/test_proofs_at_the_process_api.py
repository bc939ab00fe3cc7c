"""Tokens that are bound to a key, at the process API: RFC 9449 §7."""

import base64
import hashlib
import secrets
from dataclasses import dataclass, field
from typing import Any

import grpc
import msgspec
import pytest
from aiohttp import encode_basic_auth
from joserfc import jws
from joserfc.jwk import ECKey, Key

from gnomon.identity.v1 import directory_service_pb2
from gnomon.identity.v1.directory_service_pb2_grpc import DirectoryServiceStub
from server.platform.channels import LocalChannel, error_of
from server.platform.dpop import CarriedProof
from server.platform.errors import ServiceError
from server.platform.peer import LOCAL_EDGE, Peer
from tests.edge.oidc.tenants.world import World
from tests.identity.deployment import SECRET

PATH = "/v2/jobs/activation"


@dataclass
class Client:
    """`operator`, with a token that is bound to its key."""

    provider: World
    key: Key = field(default_factory=lambda: ECKey.generate_key("P-256"))
    token: str = ""
    nonce: str = ""

    def proof(self, method: str, address: str, *, key: Key | None = None, **claims: Any) -> str:
        key = key or self.key
        now = int(self.provider.deployment.clock.now().timestamp())
        default = {
            "htm": method,
            "htu": address,
            "iat": now,
            "jti": secrets.token_urlsafe(),
            "nonce": self.nonce,
        }
        header = {"alg": "ES256", "typ": "dpop+jwt", "jwk": key.as_dict(private=False)}
        registry = jws.JWSRegistry(strict_check_header=False)
        return jws.serialize_compact(header, msgspec.json.encode(default | claims), key, registry=registry)

    async def authorize(self) -> None:
        address = f"{self.provider.issuer()}oidc/token"
        for _ in range(2):
            answer = await self.provider.http.post(
                address,
                data={"grant_type": "client_credentials"},
                headers={
                    "Authorization": encode_basic_auth("operator", SECRET),
                    "DPoP": self.proof("POST", address),
                },
            )
            self.nonce = answer.headers.get("DPoP-Nonce", self.nonce)
        body = await answer.json()
        assert body["token_type"] == "DPoP"
        self.token = body["access_token"]

    def carried(self, **changes: Any) -> CarriedProof:
        ath = base64.urlsafe_b64encode(hashlib.sha256(self.token.encode()).digest()).rstrip(b"=").decode()
        address = f"{self.provider.issuer().removesuffix('/auth/v1/')}{PATH}"
        proof = self.proof("POST", changes.pop("address", address), **({"ath": ath} | changes))
        return CarriedProof(proof, "POST", PATH)

    async def call(
        self, carried: CarriedProof | None, *, scheme: str = "DPoP", peer: Peer = LOCAL_EDGE
    ) -> ServiceError | None:
        """Return the refusal, None for a call that is admitted."""
        asked = directory_service_pb2.GetPrincipalRequest(subject="operator", issuer=self.provider.issuer())
        metadata = [("authorization", f"{scheme} {self.token}"), ("x-tenant-id", "default")]
        channel = LocalChannel(self.provider.deployment.dispatcher, peer=peer)
        try:
            await DirectoryServiceStub(channel).GetPrincipal(
                asked, metadata=[*metadata, *(carried.metadata if carried else ())]
            )
        except grpc.RpcError as failure:
            return error_of(failure)
        return None


@pytest.fixture
async def client(provider: World) -> Client:
    made = Client(provider)
    await made.authorize()
    return made


async def test_each_call_needs_a_proof_of_its_own(client: Client) -> None:
    carried = client.carried()

    outcomes = [await client.call(each) for each in (carried, carried, client.carried())]

    assert outcomes[0] is None
    assert outcomes[1] is not None
    assert outcomes[1].metadata["dpop_error"] == "invalid_dpop_proof"
    assert outcomes[2] is None


REFUSED: dict[str, dict[str, Any]] = {
    "another key": {"key": ECKey.generate_key("P-256")},
    "another token": {"ath": "x"},
    "another method": {"htm": "GET"},
    "another address": {"address": "https://other.example.com/v2/jobs/activation"},
    "too old": {"iat": 1},
}


@pytest.mark.parametrize("changes", REFUSED.values(), ids=REFUSED)
async def test_a_proof_for_something_else_admits_nobody(client: Client, changes: dict[str, Any]) -> None:
    assert await client.call(client.carried()) is None

    refusal = await client.call(client.carried(**changes))

    assert refusal is not None
    assert (refusal.reason, refusal.metadata["dpop_error"]) == ("UNAUTHENTICATED", "invalid_dpop_proof")


async def test_a_proof_without_the_nonce_gets_it(client: Client) -> None:
    refusal = await client.call(client.carried(nonce=""))

    assert refusal is not None
    assert refusal.metadata == {"dpop_error": "use_dpop_nonce", "dpop_nonce": client.nonce}


async def test_a_bound_token_does_not_come_without_its_proof(client: Client) -> None:
    without = await client.call(None)
    as_bearer = await client.call(client.carried(), scheme="Bearer")

    assert without is not None
    assert as_bearer is not None
    assert {without.reason, as_bearer.reason} == {"UNAUTHENTICATED"}


async def test_a_proof_counts_from_an_edge_alone(client: Client) -> None:
    """Any other peer could choose the method and the path."""
    assert await client.call(client.carried(), peer=Peer("192.0.2.9")) is not None


async def test_a_token_without_a_key_does_not_come_under_dpop(client: Client) -> None:
    client.token = (await client.provider.deployment.issue()).access_token

    refusal = await client.call(client.carried())

    assert refusal is not None
    assert refusal.detail == "the token is not an access token"
