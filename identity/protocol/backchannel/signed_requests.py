"""Signed backchannel authentication requests: CIBA Core 1.0 §7.1.1, FAPI-CIBA §5.2.2."""

from datetime import UTC, datetime, timedelta

from identity.access.client_authentication.client_keys import ClientKeys
from identity.authentication.requests.parameters import Parameters
from identity.authentication.requests.request_objects import parameters_in
from identity.crypto.signed_jwt import MalformedJwt, SignedJwt, algorithms_of, parse
from identity.directory.client import Client
from identity.foundation.errors import InvalidRequest
from identity.foundation.single_use import SingleUse
from identity.foundation.tenants import Tenant
from server.platform.clock import Clock

_MAX_JTI_LENGTH = 256
_LONGEST = timedelta(minutes=60)
_SKEW = timedelta(seconds=10)
_TYPES = frozenset({"oauth-authz-req+jwt", "application/oauth-authz-req+jwt", "jwt", ""})
_BESIDE = frozenset({"request", "client_id"})


class SignedRequests:
    """A request is accepted once; otherwise anybody who reads one could repeat it."""

    def __init__(self, keys: ClientKeys, single_use: SingleUse, clock: Clock) -> None:
        self._keys = keys
        self._single_use = single_use
        self._clock = clock

    async def read(self, tenant: Tenant, client: Client, parameters: Parameters) -> Parameters:
        """Return the signed parameters, or those of a plain request; raises InvalidRequest."""
        if not parameters.all("request"):
            if must_sign(client):
                raise InvalidRequest("the client has to sign its requests")
            return parameters
        if not {name for name, _ in parameters.pairs} <= _BESIDE:
            raise InvalidRequest("a signed request must not have other parameters")
        try:
            jwt = parse(parameters.one("request"))
        except MalformedJwt as error:
            raise InvalidRequest("the request is not a signed JWT") from error
        await self._expect_signature(client, jwt)
        _expect_parties(jwt, client, tenant)
        expires_at = self._expiry(jwt)
        jti = f"{client.client_id} {jwt.text('jti')}"
        if not await self._single_use.spend(tenant, "backchannel request", jti, until=expires_at):
            raise InvalidRequest("the request was sent before")
        return Parameters.of(parameters_in(jwt))

    async def _expect_signature(self, client: Client, jwt: SignedJwt) -> None:
        algorithms = algorithms_of(
            client.backchannel_authentication_request_signing_alg, among=client.accepted_algorithms
        )
        keys = await self._keys.of(client, kid=str(jwt.header.get("kid", "")))
        if not any(jwt.is_signed_by(key, algorithms) for key in keys):
            raise InvalidRequest("the request is not signed by a key of the client")

    def _expiry(self, jwt: SignedJwt) -> datetime:
        """Return the time until which the request could be repeated."""
        now = self._clock.now()
        times: dict[str, float] = {}
        for claim, earliest, latest in (
            ("exp", now - _SKEW, now + _LONGEST + _SKEW),
            ("nbf", now - _LONGEST - _SKEW, now + _SKEW),
            ("iat", now - _LONGEST - _SKEW, now + _SKEW),
        ):
            seconds = jwt.time(claim)
            if seconds is None or not earliest.timestamp() < seconds <= latest.timestamp():
                raise InvalidRequest(
                    f"the request's {claim} has passed, is too far in the future or is missing"
                )
            times[claim] = seconds
        if times["exp"] - times["nbf"] > _LONGEST.total_seconds():
            raise InvalidRequest("the request is valid for longer than an hour")
        return datetime.fromtimestamp(times["exp"], UTC) + _SKEW


def must_sign(client: Client) -> bool:
    """A client that registered an algorithm must sign; otherwise its secret alone would permit requests in its name."""
    return (
        client.follows_fapi
        or client.requires_signed_request
        or bool(client.backchannel_authentication_request_signing_alg)
    )


def _expect_parties(jwt: SignedJwt, client: Client, tenant: Tenant) -> None:
    # RFC 9101 §10.8: other JWTs that a client signs carry another type, or this `sub`.
    is_other = str(jwt.header.get("typ", "")).lower() not in _TYPES or jwt.text("sub") == client.client_id
    if is_other or jwt.text("iss") != client.client_id:
        raise InvalidRequest("the JWT is not a request of this client")
    audience = jwt.claims.get("aud")
    if tenant.issuer not in (audience if isinstance(audience, list) else [audience]):
        raise InvalidRequest("the request's aud is not this issuer")
    if not 0 < len(jwt.text("jti")) <= _MAX_JTI_LENGTH:
        raise InvalidRequest(f"the request's jti is missing or longer than {_MAX_JTI_LENGTH} characters")
    if not {"request", "request_uri"}.isdisjoint(jwt.claims):
        raise InvalidRequest("a signed request must not contain another one")
