"""Device codes, and devices that a user authorized."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from identity.access.polled_request import PolledRequest
from identity.access.sessions.session import Authentication
from identity.directory.authorization_details.details import Details
from identity.directory.client import ClientId
from server.platform.records import Kind, Owner, Record


class DeviceCodeState(StrEnum):
    PENDING = "pending"
    ACCEPTED = "accepted"
    DECLINED = "declined"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceCode(PolledRequest):
    """`id` is a keyed hash of the device code, `user_code_hash` one of the user code.

    `pair` identifies the client and the user who accepted, once there is one.
    """

    client_id: ClientId
    user_code_hash: str
    oauth_scopes: tuple[str, ...]
    nonce: str
    peer_address: str
    started_at: datetime
    state: DeviceCodeState = DeviceCodeState.PENDING
    authentication: Authentication | None = None
    pair: str = ""
    authorization_details: Details = ()


DEVICE_CODES = Kind(
    DeviceCode,
    "device_code",
    unique=("user_code_hash",),
    indexed=("pair",),
    owners=(
        Owner("client", "client_id"),
        Owner("user", "authentication.user_id"),
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Device(Record):
    """An authorized device of a user; its tokens are the token sets with this `device_id`."""

    user_id: str
    client_id: ClientId
    name: str
    peer_address: str
    created_at: datetime


DEVICES = Kind(
    Device,
    "device",
    indexed=("user_id",),
    owners=(
        Owner("user", "user_id"),
        Owner("client", "client_id"),
    ),
)
