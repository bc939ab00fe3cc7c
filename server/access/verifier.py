"""Verifies access tokens and reads their claims (RFC 7515 §5.2, RFC 8725)."""

from base64 import urlsafe_b64decode
from dataclasses import dataclass, field

from joserfc import jws
from joserfc.errors import JoseError
from joserfc.jwk import Key

from server.access.claims import AccessTokenClaims, check, decode, tenant_of
from server.access.config import AccessConfig
from server.access.key_sets import KeySets
from server.platform.clock import Clock
from server.platform.errors import Unauthenticated
from server.platform.json_members import expect_unique_members

_MAX_LENGTH = 4096


@dataclass(frozen=True, slots=True)
class VerifiedToken:
    """A verified token; `payload` is the JSON of all claims, including unknown ones."""

    claims: AccessTokenClaims
    payload: bytes = field(repr=False)


class TokenVerifier:
    def __init__(self, key_sets: KeySets, config: AccessConfig, clock: Clock) -> None:
        self._key_sets = key_sets
        self._config = config
        self._clock = clock

    async def verify(self, token: str, *, typ: str) -> VerifiedToken:
        """Return the content of a currently valid token of this type; raises Unauthenticated."""
        signed = _parse(token)
        # RFC 8725 §3.1: the configuration determines the accepted algorithms, never the token.
        if signed.protected.get("alg") not in self._config.algorithms:
            raise Unauthenticated("the token's algorithm is not accepted")
        claims = decode(signed.payload)
        tenant_id = tenant_of(claims, self._config.issuer)
        key = await self._key_sets.key(tenant_id, str(signed.protected.get("kid")))
        self._verify_signature(signed, key)
        check(
            claims,
            typ=typ,
            tenant_id=tenant_id,
            now=self._clock.now(),
            leeway_seconds=self._config.leeway_seconds,
        )
        return VerifiedToken(claims, signed.payload)

    def _verify_signature(self, signed: jws.CompactSignature, key: Key) -> None:
        try:
            is_genuine = jws.validate_compact(signed, key, algorithms=self._config.algorithms)
        except (JoseError, ValueError) as error:
            raise Unauthenticated("the token's signature is invalid") from error
        if not is_genuine:
            raise Unauthenticated("the token's signature is invalid")


def _parse(token: str) -> jws.CompactSignature:
    if len(token) > _MAX_LENGTH:
        raise Unauthenticated(f"the token is longer than {_MAX_LENGTH} characters")
    try:
        signed = jws.extract_compact(token.encode())
        # RFC 8725 §2.4: another parser may return the first of repeated members.
        expect_unique_members(urlsafe_b64decode(signed.segments["header"] + b"=="))
        expect_unique_members(signed.payload)
    except (JoseError, ValueError, RecursionError) as error:
        raise Unauthenticated("the token is malformed") from error
    return signed
