"""Client credentials in HTTP requests: RFC 6749 §2.3.1, RFC 7617, RFC 7523 §2.2."""

import base64
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar
from urllib.parse import unquote_plus

import grpc

from edge.oidc.access.form import Form, single
from edge.oidc.access.refusal import invalid_client, invalid_request
from gnomon.identity.v1 import token_service_pb2 as pb
from server.platform.channels import error_of
from server.platform.errors import OAuthError, ServiceError

# Parameters with client credentials, which are not passed on.
SECRETS = frozenset({"client_secret", "client_assertion", "client_assertion_type"})

_JWT_BEARER = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

_Answer = TypeVar("_Answer")


@dataclass(frozen=True, slots=True)
class ClientCredentials:
    method: pb.ClientAuthentication.ValueType
    client_id: str
    client_secret: str = field(default="", repr=False)
    client_assertion: str = field(default="", repr=False)

    def proof(self) -> pb.ClientProof:
        return pb.ClientProof(
            client_id=self.client_id,
            client_secret=self.client_secret,
            method=self.method,
            client_assertion=self.client_assertion,
        )


async def authenticated(
    readings: Sequence[ClientCredentials], call: Callable[[ClientCredentials], Awaitable[_Answer]]
) -> _Answer:
    """Make a call with each interpretation until the client is known; raises Refused and grpc.RpcError."""
    reading, *others = readings
    try:
        return await call(reading)
    except grpc.RpcError as failure:
        if not _is_invalid_client(error := error_of(failure)):
            raise
        if not others:
            raise invalid_client(error.detail) from failure
    return await authenticated(others, call)


def presented(authorizations: Sequence[str], form: Form) -> tuple[ClientCredentials, ...]:
    """Return the possible interpretations of the credentials, the standard's first; raises Refused."""
    if len(authorizations) > 1:
        raise invalid_request("the Authorization header comes more than once")
    if authorizations:
        return _basic(authorizations[0], form)
    return (_in_the_form(form),)


def _in_the_form(form: Form) -> ClientCredentials:
    client_id, client_secret = single(form, "client_id"), single(form, "client_secret")
    if "client_assertion" in form or "client_assertion_type" in form:
        return _assertion(client_id, client_secret, form=form)
    method = pb.CLIENT_AUTHENTICATION_SECRET_POST if client_secret else pb.CLIENT_AUTHENTICATION_NONE
    return ClientCredentials(method, client_id, client_secret)


def _assertion(client_id: str, client_secret: str, *, form: Form) -> ClientCredentials:
    if client_secret:
        raise _more_than_one_way()
    if single(form, "client_assertion_type") != _JWT_BEARER:
        raise invalid_client(f"expected client_assertion_type to be {_JWT_BEARER}")
    assertion = single(form, "client_assertion")
    return ClientCredentials(pb.CLIENT_AUTHENTICATION_PRIVATE_KEY_JWT, client_id, client_assertion=assertion)


def _basic(authorization: str, form: Form) -> tuple[ClientCredentials, ...]:
    readings = _readings(authorization)
    if single(form, "client_secret") or single(form, "client_assertion"):
        raise _more_than_one_way()
    client_id = single(form, "client_id")
    if client_id and client_id not in {reading.client_id for reading in readings}:
        raise invalid_request("client_id differs from the authenticated client")
    return readings


def _readings(authorization: str) -> tuple[ClientCredentials, ...]:
    scheme, _, encoded = authorization.partition(" ")
    if scheme.lower() != "basic":
        raise invalid_client("expected the Basic scheme")
    try:
        client_id, colon, client_secret = (
            base64.b64decode(encoded.strip(), validate=True).decode().partition(":")
        )
    except ValueError as error:
        raise invalid_client("the Basic credentials are malformed") from error
    if not colon:
        raise invalid_client("the Basic credentials are malformed")
    # RFC 6749 §2.3.1 form-encodes both parts; many clients do not.
    halves = ((unquote_plus(client_id), unquote_plus(client_secret)), (client_id, client_secret))
    return tuple(
        ClientCredentials(pb.CLIENT_AUTHENTICATION_SECRET_BASIC, *pair) for pair in dict.fromkeys(halves)
    )


def _more_than_one_way() -> Exception:
    """RFC 6749 §2.3: a request has at most one method."""
    return invalid_request("the client authenticates in more than one way")


def _is_invalid_client(error: ServiceError) -> bool:
    return isinstance(error, OAuthError) and error.error == "invalid_client"
