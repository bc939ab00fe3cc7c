"""Typed stubs of the provider's services."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from gnomon.identity.v1.discovery_service_pb2_grpc import DiscoveryServiceStub
from gnomon.identity.v1.key_set_service_pb2_grpc import KeySetServiceStub
from gnomon.identity.v1.token_service_pb2_grpc import TokenServiceStub
from server.platform.channels import Channel

if TYPE_CHECKING:
    import grpc

    from gnomon.identity.v1.discovery_service_pb2_grpc import DiscoveryServiceAsyncStub
    from gnomon.identity.v1.key_set_service_pb2_grpc import KeySetServiceAsyncStub
    from gnomon.identity.v1.token_service_pb2_grpc import TokenServiceAsyncStub


@dataclass(frozen=True, slots=True)
class Stubs:
    tokens: "TokenServiceAsyncStub"
    key_sets: "KeySetServiceAsyncStub"
    discovery: "DiscoveryServiceAsyncStub"


def stubs_of(channel: Channel) -> Stubs:
    # A stub asks nothing more of its channel than our Channel has.
    aio_channel = cast("grpc.aio.Channel", channel)
    return Stubs(
        TokenServiceStub(aio_channel), KeySetServiceStub(aio_channel), DiscoveryServiceStub(aio_channel)
    )
