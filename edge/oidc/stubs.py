"""Typed stubs of the provider's services."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from gnomon.identity.v1.authorization_service_pb2_grpc import AuthorizationServiceStub
from gnomon.identity.v1.device_service_pb2_grpc import DeviceServiceStub
from gnomon.identity.v1.discovery_service_pb2_grpc import DiscoveryServiceStub
from gnomon.identity.v1.key_set_service_pb2_grpc import KeySetServiceStub
from gnomon.identity.v1.logout_service_pb2_grpc import LogoutServiceStub
from gnomon.identity.v1.proof_of_work_service_pb2_grpc import ProofOfWorkServiceStub
from gnomon.identity.v1.session_service_pb2_grpc import SessionServiceStub
from gnomon.identity.v1.token_service_pb2_grpc import TokenServiceStub
from gnomon.identity.v1.user_info_service_pb2_grpc import UserInfoServiceStub
from server.platform.channels import Channel

if TYPE_CHECKING:
    import grpc

    from gnomon.identity.v1.authorization_service_pb2_grpc import AuthorizationServiceAsyncStub
    from gnomon.identity.v1.device_service_pb2_grpc import DeviceServiceAsyncStub
    from gnomon.identity.v1.discovery_service_pb2_grpc import DiscoveryServiceAsyncStub
    from gnomon.identity.v1.key_set_service_pb2_grpc import KeySetServiceAsyncStub
    from gnomon.identity.v1.logout_service_pb2_grpc import LogoutServiceAsyncStub
    from gnomon.identity.v1.proof_of_work_service_pb2_grpc import ProofOfWorkServiceAsyncStub
    from gnomon.identity.v1.session_service_pb2_grpc import SessionServiceAsyncStub
    from gnomon.identity.v1.token_service_pb2_grpc import TokenServiceAsyncStub
    from gnomon.identity.v1.user_info_service_pb2_grpc import UserInfoServiceAsyncStub


@dataclass(frozen=True, slots=True, kw_only=True)
class Stubs:
    authorizations: "AuthorizationServiceAsyncStub"
    devices: "DeviceServiceAsyncStub"
    discovery: "DiscoveryServiceAsyncStub"
    key_sets: "KeySetServiceAsyncStub"
    logouts: "LogoutServiceAsyncStub"
    proofs_of_work: "ProofOfWorkServiceAsyncStub"
    sessions: "SessionServiceAsyncStub"
    tokens: "TokenServiceAsyncStub"
    user_info: "UserInfoServiceAsyncStub"


def stubs_of(channel: Channel) -> Stubs:
    # A stub asks nothing more of its channel than our Channel has.
    aio_channel = cast("grpc.aio.Channel", channel)
    return Stubs(
        authorizations=AuthorizationServiceStub(aio_channel),
        devices=DeviceServiceStub(aio_channel),
        discovery=DiscoveryServiceStub(aio_channel),
        key_sets=KeySetServiceStub(aio_channel),
        logouts=LogoutServiceStub(aio_channel),
        proofs_of_work=ProofOfWorkServiceStub(aio_channel),
        sessions=SessionServiceStub(aio_channel),
        tokens=TokenServiceStub(aio_channel),
        user_info=UserInfoServiceStub(aio_channel),
    )
