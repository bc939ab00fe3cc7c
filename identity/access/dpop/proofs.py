"""Verification of DPoP proofs: RFC 9449 §4.3."""

import base64
import hashlib
import hmac
from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from typing import Protocol

from joserfc.jwk import Key

from identity.access.dpop.addresses import normalised
from identity.access.dpop.nonces import DpopNonces
from identity.crypto.jose.public_keys import RefusedJwk, public_key
from identity.crypto.signed_jwt import CLIENT_ALGORITHMS, MalformedJwt, SignedJwt, parse
from identity.foundation.errors import InvalidDpopProof, UseDpopNonce
from identity.foundation.single_use import SingleUse
from identity.foundation.tenants import Tenant
from server.platform.clock import Clock

_TYPE = "dpop+jwt"
_MAX_AGE = timedelta(seconds=60)
_SKEW = timedelta(seconds=10)
_MAX_JTI_LENGTH = 256


class PresentedProof(Protocol):
    """A DPoP proof, with the request that carries it."""

    @property
    def proof(self) -> str: ...

    @property
    def http_method(self) -> str: ...

    @property
    def path(self) -> str: ...


class DpopProofs:
    def __init__(self, single_use: SingleUse, nonces: DpopNonces, clock: Clock) -> None:
        self._single_use = single_use
        self._nonces = nonces
        self._clock = clock

    async def thumbprint(
        self,
        tenant: Tenant,
        proof: PresentedProof,
        *,
        access_token: str | None = None,
        algorithms: Collection[str] = CLIENT_ALGORITHMS,
    ) -> str:
        """Return the thumbprint of the proved key: RFC 7638.

        Raises InvalidDpopProof, UseDpopNonce. A proof that lacks a server nonce is not used up.
        """
        jwt = _parsed(proof.proof)
        key = _key(jwt)
        if not jwt.is_signed_by(key, algorithms):
            raise InvalidDpopProof("the proof's signature is invalid")
        self._check_request(jwt, tenant, proof)
        if access_token is not None and not _is_for(jwt, access_token):
            raise InvalidDpopProof("the proof is for another access token")
        spent_until = self._spent_until(jwt)
        if self._nonces.are_required and not self._nonces.is_fresh(tenant, jwt.text("nonce")):
            raise UseDpopNonce(self._nonces.current(tenant))
        jkt = key.thumbprint()
        if not await self._single_use.spend(
            tenant, "DPoP proof", f"{jkt} {jwt.text('jti')}", until=spent_until
        ):
            raise InvalidDpopProof("the proof was used before")
        return jkt

    def nonce(self, tenant: Tenant) -> str:
        """Return the nonce for the next proof; empty when none is required."""
        return self._nonces.current(tenant)

    def _check_request(self, jwt: SignedJwt, tenant: Tenant, proof: PresentedProof) -> None:
        if not 0 < len(jwt.text("jti")) <= _MAX_JTI_LENGTH:
            raise InvalidDpopProof("the proof needs a jti of at most 256 characters")
        if jwt.text("htm") != proof.http_method:
            raise InvalidDpopProof("the proof is for another method")
        # RFC 9449 §4.3: without query and fragment, normalized as in RFC 3986 §6.2.
        expected = normalised(f"{tenant.origin}{proof.path}")
        if not expected or normalised(jwt.text("htu")) != expected:
            raise InvalidDpopProof("the proof is for another address")

    def _spent_until(self, jwt: SignedJwt) -> datetime:
        """Time after which the proof would be refused as too old."""
        issued_at, now = jwt.time("iat"), self._clock.now()
        if issued_at is None or not (now - _MAX_AGE).timestamp() <= issued_at <= (now + _SKEW).timestamp():
            raise InvalidDpopProof("the proof was not made recently")
        return datetime.fromtimestamp(issued_at, UTC) + _MAX_AGE + _SKEW


def _parsed(proof: str) -> SignedJwt:
    try:
        jwt = parse(proof)
    except MalformedJwt as error:
        raise InvalidDpopProof("the proof is not a signed JWT") from error
    if jwt.header.get("typ") != _TYPE:
        raise InvalidDpopProof("the proof is of another type")
    return jwt


def _key(jwt: SignedJwt) -> Key:
    jwk = jwt.header.get("jwk")
    if not isinstance(jwk, dict):
        raise InvalidDpopProof("the proof lacks its key")
    try:
        return public_key(jwk)
    except RefusedJwk as error:
        raise InvalidDpopProof("the proof's key is not supported") from error


def _is_for(jwt: SignedJwt, access_token: str) -> bool:
    digest = hashlib.sha256(access_token.encode()).digest()
    expected = base64.urlsafe_b64encode(digest).rstrip(b"=")
    return hmac.compare_digest(expected, jwt.text("ath").encode())
