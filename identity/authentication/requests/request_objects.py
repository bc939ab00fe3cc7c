"""Signed authorization requests: RFC 9101 §4, OpenID Connect Core 1.0 §6.1.

A request object may be used again while it is valid: the user may reload the page, and the code goes to the client
only.
"""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Protocol

import msgspec
from joserfc.jwk import Key

from identity.authentication.requests.parameters import Parameters
from identity.crypto.signed_jwt import MalformedJwt, SignedJwt, algorithms_of, parse
from identity.directory.client import Client
from identity.foundation.errors import InvalidRequestObject, RequestNotSupported
from identity.foundation.tenants import Tenant
from server.platform.clock import Clock

_MAX_LENGTH = 16_384
_MAX_JTI_LENGTH = 256

# FAPI 2.0 Message Signing §5.3.1: the longest validity, and the tolerated difference of clocks.
_FARTHEST = timedelta(minutes=60)
_SKEW = timedelta(seconds=10)

# RFC 9101 §10.8: other JWTs that a client signs carry another type. A JWT without a type is accepted.
_TYPES = frozenset({"oauth-authz-req+jwt", "application/oauth-authz-req+jwt", "jwt", ""})

# Claims about the request object itself, which are no request parameters: RFC 7519 §4.1.
_OF_THE_OBJECT = frozenset({"iss", "sub", "aud", "exp", "nbf", "iat", "jti"})


class Keys(Protocol):
    async def of(self, client: Client, *, kid: str) -> Sequence[Key]: ...


class RequestObjects:
    def __init__(self, keys: Keys, clock: Clock) -> None:
        self._keys = keys
        self._clock = clock

    async def read(self, tenant: Tenant, client: Client, request_object: str) -> Parameters:
        """Return the parameters that the client signed; raises InvalidRequestObject, RequestNotSupported."""
        jwt = _parsed(request_object)
        if not await self._is_signed(jwt, client):
            raise InvalidRequestObject("the request object is not signed by a key of the client")
        _expect_type(jwt)
        _expect_parties(jwt, client, tenant)
        self._expect_time(jwt, client)
        return Parameters.of(parameters_in(jwt))

    async def _is_signed(self, jwt: SignedJwt, client: Client) -> bool:
        algorithms = algorithms_of(client.request_object_signing_alg, among=client.accepted_algorithms)
        keys = await self._keys.of(client, kid=str(jwt.header.get("kid", "")))
        return any(jwt.is_signed_by(key, algorithms) for key in keys)

    def _expect_time(self, jwt: SignedJwt, client: Client) -> None:
        """Check `exp`, `nbf` and `iat`. The standard requires none; `exp` is required of a client that must sign.

        FAPI 2.0 Message Signing §5.3.1 requires `exp` and `nbf`, an hour apart at most.
        """
        now = self._clock.now()
        for claim, earliest, latest in (
            ("exp", now - _SKEW, now + _FARTHEST + _SKEW),
            ("nbf", now - _FARTHEST - _SKEW, now + _SKEW),
        ):
            is_demanded = client.signs_messages or (claim == "exp" and client.requires_signed_request)
            if claim not in jwt.claims and not is_demanded:
                continue
            seconds = jwt.time(claim)
            if seconds is None or not earliest.timestamp() < seconds <= latest.timestamp():
                raise InvalidRequestObject(
                    f"the request object's {claim} has passed, is too far in the future or is missing"
                )
        if not jwt.has_begun((now + _SKEW).timestamp()):
            raise InvalidRequestObject("the request object's iat is in the future, or no number")
        if client.signs_messages and _validity(jwt) > _FARTHEST:
            raise InvalidRequestObject("the request object is valid for longer than an hour")


def _parsed(request_object: str) -> SignedJwt:
    if len(request_object) > _MAX_LENGTH:
        raise InvalidRequestObject(f"the request object is longer than {_MAX_LENGTH} characters")
    try:
        jwt = parse(request_object)
    except MalformedJwt as error:
        raise InvalidRequestObject("the request object is not a signed JWT") from error
    if jwt.header.get("alg") == "none":
        raise RequestNotSupported("request objects have to be signed")
    return jwt


def _expect_type(jwt: SignedJwt) -> None:
    if str(jwt.header.get("typ", "")).lower() not in _TYPES:
        raise InvalidRequestObject("the JWT is of another type than request objects")


def _validity(jwt: SignedJwt) -> timedelta:
    return timedelta(seconds=(jwt.time("exp") or 0) - (jwt.time("nbf") or 0))


def _expect_parties(jwt: SignedJwt, client: Client, tenant: Tenant) -> None:
    """Check that the client issued the request object for this provider: RFC 9101 §4, §6.3."""
    if not jwt.text("client_id") == jwt.text("iss") == client.client_id:
        raise InvalidRequestObject("the request object's iss and client_id are not the client that asks")
    # RFC 9101 §10.8: a client assertion carries this `sub`.
    if jwt.text("sub") == client.client_id:
        raise InvalidRequestObject("the request object's sub is the client, as in an assertion")
    audience = jwt.claims.get("aud")
    if tenant.issuer not in (audience if isinstance(audience, list) else [audience]):
        raise InvalidRequestObject("the request object's aud is not this issuer")
    if len(jwt.text("jti")) > _MAX_JTI_LENGTH:
        raise InvalidRequestObject(f"the request object's jti is longer than {_MAX_JTI_LENGTH} characters")
    if not {"request", "request_uri"}.isdisjoint(jwt.claims):
        raise InvalidRequestObject("a request object must not contain another one")


def parameters_in(jwt: SignedJwt) -> Iterator[tuple[str, str]]:
    """Return the claims as request parameters; a value that is no string becomes JSON."""
    for name, value in jwt.claims.items():
        if name in _OF_THE_OBJECT or value is None:
            continue
        values = value if name == "resource" and isinstance(value, list) else [value]
        for each in values:
            yield name, each if isinstance(each, str) else msgspec.json.encode(each).decode()
