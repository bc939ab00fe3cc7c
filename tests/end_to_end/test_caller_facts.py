"""Facts about a caller come from the transport or from an edge that proved itself, whatever a message says."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any, cast

import grpc
import httpx
import pytest
import pytest_asyncio
from google.protobuf.descriptor import Descriptor

from edge.config import EdgeConfig
from gnomon.identity.v1 import (
    authorization_service_pb2,
    blacklist_service_pb2,
    browser_pb2,
    caller_pb2,
    user_service_pb2,
)
from server.bundle import serving
from server.platform.caller import EDGE_SECRET
from server.platform.channels import Channel, TunnelChannel, TunnelConfig, error_of
from server.platform.errors import ServiceError, Unauthenticated, Unavailable
from server.platform.grpc_server import GrpcConfig
from server.platform.policy import CallerKind, Policy, policies_of, services
from server.sections import Config

SECRET = "shared by edges and services"
SECONDS = 20
FACTS = {browser_pb2.Browser.DESCRIPTOR.full_name, caller_pb2.Caller.DESCRIPTOR.full_name}
NAMES_OF_FACTS = {
    "browser",
    "csrf_cookie",
    "csrf_header",
    "csrf_token",
    "forwarded",
    "is_secure",
    "origin",
    "peer_address",
    "session",
}

POLICIES = {policy.path: policy for service in services() for policy in policies_of(service).values()}


def facts_of(message: Descriptor, seen: tuple[str, ...] = ()) -> Iterator[str]:
    """Fields, at any depth, that say something of a browser, a peer or a caller."""
    for field in message.fields:
        kind = field.message_type
        if field.name in NAMES_OF_FACTS or (kind is not None and kind.full_name in FACTS):
            yield field.name
        elif kind is not None and kind.full_name not in seen:
            yield from facts_of(kind, (*seen, kind.full_name))


CLAIMING = [path for path, policy in sorted(POLICIES.items()) if any(facts_of(policy.request.DESCRIPTOR))]


@dataclass(frozen=True)
class Served:
    """`direct` is any gRPC client's channel, `tunnel` that of a peer without proof."""

    target: str
    http: str
    direct: Channel
    tunnel: Channel


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def served() -> AsyncIterator[Served]:
    config = Config(edge=EdgeConfig(port=0, secret=SECRET), grpc=GrpcConfig(port=0))
    async with (
        serving(config) as addresses,
        grpc.aio.insecure_channel(addresses.grpc) as direct,
        TunnelChannel(addresses.grpc, TunnelConfig(silence_seconds=SECONDS)) as tunnel,
    ):
        yield Served(addresses.grpc, addresses.http, cast("Channel", direct), tunnel)


async def refusal(channel: Channel, policy: Policy, request: Any = None, *metadata: tuple[str, str]) -> Any:
    """The answer, or the error."""
    call = channel.unary_unary(policy.path, policy.request.SerializeToString, policy.response.FromString)
    try:
        return await call(request or policy.request(), timeout=SECONDS, metadata=metadata)
    except grpc.RpcError as failure:
        return error_of(failure)


async def access_token_of(http: str) -> str:
    """That of the client that everybody knows, who may do everything."""
    form = {"grant_type": "client_credentials", "client_id": "demo", "client_secret": "demo-secret"}
    async with httpx.AsyncClient(base_url=http) as client:
        answer = await client.post("/auth/v1/oidc/token", data=form)
    token: str = answer.json()["access_token"]
    return token


def policy_of(name: str) -> Policy:
    return next(policy for policy in POLICIES.values() if policy.name == name)


@pytest.mark.parametrize("path", CLAIMING)
def test_every_rpc_that_takes_facts_about_a_caller_takes_them_from_an_edge(path: str) -> None:
    policy = POLICIES[path]
    facts = set(facts_of(policy.request.DESCRIPTOR))

    assert policy.caller is CallerKind.EDGE or (
        policy.caller is CallerKind.CREDENTIAL and facts == {"caller"}
    )


@pytest.mark.parametrize("way", ["direct", "tunnel"])
@pytest.mark.parametrize("path", CLAIMING)
@pytest.mark.asyncio(loop_scope="module")
async def test_no_rpc_that_takes_facts_about_a_caller_is_served_without_proof(
    served: Served, way: str, path: str
) -> None:
    error = await refusal(getattr(served, way), POLICIES[path])

    assert isinstance(error, Unauthenticated)


@pytest.mark.asyncio(loop_scope="module")
async def test_a_grpc_client_cannot_guess_passwords_from_addresses_of_its_choice(served: Served) -> None:
    attempt = authorization_service_pb2.SubmitCredentialsRequest(
        browser=browser_pb2.Browser(peer_address="198.51.100.7"), email="admin@localhost", password="demo"
    )

    error = await refusal(served.direct, policy_of("SubmitCredentials"), attempt)

    assert "only an edge" in error.detail


@pytest.mark.asyncio(loop_scope="module")
async def test_a_grpc_client_cannot_ask_whether_an_address_is_blocked(served: Served) -> None:
    question = blacklist_service_pb2.AdmitAddressRequest(peer_address="198.51.100.7")

    assert isinstance(await refusal(served.direct, policy_of("AdmitAddress"), question), Unauthenticated)


@pytest.mark.asyncio(loop_scope="module")
async def test_a_caller_in_the_message_counts_for_nothing(served: Served) -> None:
    token = await access_token_of(served.http)
    request = user_service_pb2.ListUsersRequest(caller=caller_pb2.Caller(access_token=token))

    error = await refusal(served.direct, policy_of("ListUsers"), request)

    assert isinstance(error, Unauthenticated)


@pytest.mark.asyncio(loop_scope="module")
async def test_a_token_in_the_metadata_states_the_caller(served: Served) -> None:
    token = await access_token_of(served.http)
    request = user_service_pb2.ListUsersRequest(caller=caller_pb2.Caller(api_key="other$secret"))

    answer = await refusal(
        served.direct, policy_of("ListUsers"), request, ("authorization", f"Bearer {token}")
    )

    assert [user.email for user in answer.users] == ["admin@localhost"]


@pytest.mark.asyncio(loop_scope="module")
async def test_an_unknown_api_key_in_the_metadata_is_refused(served: Served) -> None:
    error = await refusal(
        served.direct, policy_of("ListUsers"), None, ("authorization", "API-Key nobody$secret")
    )

    assert "API key" in error.detail


@pytest.mark.asyncio(loop_scope="module")
async def test_a_tunnel_that_shows_the_secret_is_an_edge(served: Served) -> None:
    async with TunnelChannel(served.target, metadata=((EDGE_SECRET, SECRET),)) as channel:
        answer = await refusal(channel, policy_of("BeginSession"))

    assert answer.cookie.value


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("secret", ["wrong", ""])
async def test_a_tunnel_that_shows_a_wrong_secret_carries_nothing(served: Served, secret: str) -> None:
    config = TunnelConfig(connect_seconds=0.5)
    async with TunnelChannel(served.target, config, metadata=((EDGE_SECRET, secret),)) as channel:
        error = await refusal(channel, policy_of("GetStatus"))

    assert isinstance(error, Unavailable)


@pytest.mark.asyncio(loop_scope="module")
async def test_the_secret_in_the_metadata_of_a_call_proves_nothing(served: Served) -> None:
    errors: list[ServiceError] = [
        await refusal(channel, policy_of("BeginSession"), None, (EDGE_SECRET, SECRET))
        for channel in (served.direct, served.tunnel)
    ]

    assert [Unauthenticated, Unauthenticated] == [type(error) for error in errors]


async def test_services_without_a_secret_take_no_edge_from_outside() -> None:
    async with serving(Config(edge=EdgeConfig(port=0), grpc=GrpcConfig(port=0))) as addresses:
        config = TunnelConfig(connect_seconds=0.5)
        async with TunnelChannel(addresses.grpc, config, metadata=((EDGE_SECRET, ""),)) as channel:
            error = await refusal(channel, policy_of("BeginSession"))

    assert isinstance(error, Unavailable)


async def test_an_edge_of_its_own_signs_people_in_through_its_tunnel() -> None:
    services_config = Config(edge=EdgeConfig(port=0, secret=SECRET), grpc=GrpcConfig(port=0))
    async with serving(services_config) as behind:
        edge = EdgeConfig(port=0, secret=SECRET, services=(behind.grpc,))
        async with serving(Config(edge=edge, grpc=GrpcConfig(port=0))) as before:
            token = await access_token_of(before.http)

    assert token


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"services": ("node:26500",)}, "edge.secret"),
        ({"secret": "too short"}, "16 characters"),
        ({"secret": "not ascii: " + "ü" * 16}, "ASCII"),
    ],
)
def test_an_edge_that_could_not_prove_itself_is_not_configured(fields: dict[str, Any], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        EdgeConfig(**fields)
