"""Bodies of requests about clients; fields of a client are in client_service.proto."""

from typing import Annotated

import msgspec

from edge.oidc.access.documents import Members
from edge.oidc.access.message_json import Empty, MessageJson
from gnomon.identity.v1 import client_service_pb2 as pb

_Hours = Annotated[int, msgspec.Meta(ge=1, le=24)]
_NO_CLAIMS = "{}"


class NewClient(msgspec.Struct, forbid_unknown_fields=True):
    id: str
    confidential: bool
    redirect_uris: tuple[str, ...]
    name: str | None = None
    post_logout_redirect_uris: tuple[str, ...] | None = None


class Rotation(msgspec.Struct, forbid_unknown_fields=True):
    cache_current_hours: _Hours | None = None


class _Client(msgspec.Struct, forbid_unknown_fields=True):
    """Algorithms may have either of their two names; absent members have the defaults of a new client."""


_JSON = MessageJson(pb.Client, _Client, name="ClientBody", empty=Empty.NULL)
ClientBody = _JSON.body


def client_of(body: _Client) -> pb.Client:
    """Raises Refused when the two names of an algorithm have different values."""
    client = _JSON.read(body)
    if client.claims == _NO_CLAIMS:
        client.ClearField("claims")
    return client


def members(client: pb.Client) -> Members:
    """Return all members of a client, with both names of each algorithm."""
    return _JSON.members(client)
