"""Bodies of dynamic client registrations: RFC 7591 §2. Unknown members are ignored, as the standard requires.

Metadata is in dynamic_client_service.proto.
"""

import msgspec

from edge.oidc.access.documents import Members
from edge.oidc.access.message_json import MessageJson, members
from edge.oidc.access.refusal import invalid_client_metadata
from gnomon.identity.v1 import dynamic_client_service_pb2 as pb


class Registration(msgspec.Struct, kw_only=True):
    """`client_id` and `client_secret` only repeat the current values: RFC 7592 §2.2."""

    client_id: str | None = None
    client_secret: str | None = None
    post_logout_redirect_uri: str | None = None
    software_statement: str | None = None


_JSON = MessageJson(pb.ClientMetadata, Registration, name="RegistrationBody")
RegistrationBody = _JSON.body


def metadata_of(body: Registration) -> pb.ClientMetadata:
    """Raises Refused for a software statement, because no issuer of them is trusted."""
    if body.software_statement is not None:
        # RFC 7591 §2.3: its claims would take precedence over these.
        raise invalid_client_metadata("software_statement: no issuer of statements is trusted")
    metadata = _JSON.read(body)
    if body.post_logout_redirect_uri is not None:
        # Some libraries send a single one.
        metadata.post_logout_redirect_uris.append(body.post_logout_redirect_uri)
    return metadata


def metadata_members(metadata: pb.ClientMetadata) -> Members:
    return members(metadata)
