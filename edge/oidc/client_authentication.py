"""Client credentials as HTTP carries them: RFC 6749 §2.3.1, RFC 7617."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import unquote_plus

from edge.oidc.form import Form, single
from edge.oidc.refusal import invalid_client, invalid_request
from gnomon.identity.v1 import token_service_pb2 as pb


@dataclass(frozen=True, slots=True)
class ClientCredentials:
    method: pb.ClientAuthentication.ValueType
    client_id: str
    client_secret: str = field(repr=False)

    @property
    def is_basic(self) -> bool:
        return self.method == pb.CLIENT_AUTHENTICATION_SECRET_BASIC


def presented(authorizations: Sequence[str], form: Form) -> tuple[ClientCredentials, ...]:
    """Return the readings of what a request presents, never none, the standard's first; raises Refused."""
    if len(authorizations) > 1:
        raise invalid_request("the Authorization header comes more than once")
    if authorizations:
        return _basic(authorizations[0], form)
    client_secret = single(form, "client_secret")
    method = pb.CLIENT_AUTHENTICATION_SECRET_POST if client_secret else pb.CLIENT_AUTHENTICATION_NONE
    return (ClientCredentials(method, single(form, "client_id"), client_secret),)


def _basic(authorization: str, form: Form) -> tuple[ClientCredentials, ...]:
    readings = _readings(authorization)
    # RFC 6749 §2.3: no more than one method in a request.
    if single(form, "client_secret"):
        raise invalid_request("the client authenticates in more than one way")
    client_id = single(form, "client_id")
    if client_id and client_id not in {reading.client_id for reading in readings}:
        raise invalid_request("client_id differs from the authenticated client")
    return readings


def _readings(authorization: str) -> tuple[ClientCredentials, ...]:
    scheme, _, encoded = authorization.partition(" ")
    if scheme.lower() != "basic":
        raise invalid_client("expected the Basic scheme", is_basic=True)
    try:
        client_id, colon, client_secret = (
            base64.b64decode(encoded.strip(), validate=True).decode().partition(":")
        )
    except ValueError as error:
        raise invalid_client("the Basic credentials are malformed", is_basic=True) from error
    if not colon:
        raise invalid_client("the Basic credentials are malformed", is_basic=True)
    # RFC 6749 §2.3.1 encodes both halves as in a form; many clients do not.
    halves = ((unquote_plus(client_id), unquote_plus(client_secret)), (client_id, client_secret))
    return tuple(
        ClientCredentials(pb.CLIENT_AUTHENTICATION_SECRET_BASIC, *pair) for pair in dict.fromkeys(halves)
    )
