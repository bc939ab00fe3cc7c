"""Signed JWTs of other parties: RFC 7519, with the signature algorithms of RFC 7518 and RFC 8037.

Nothing is trusted before the signature is verified: the header only selects which known key to try.
"""

from base64 import urlsafe_b64decode
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import msgspec
from joserfc import jws
from joserfc.errors import JoseError
from joserfc.jwa import JWSAlgModel
from joserfc.jwk import Key

from server.platform.json_members import expect_unique_members

# Algorithms for assertions and proofs of clients: asymmetric ones only.
CLIENT_ALGORITHMS = ("RS256", "ES256", "PS256", "EdDSA")

# FAPI 2.0 Security Profile §5.4.1.
FAPI_ALGORITHMS = ("ES256", "PS256", "EdDSA")

# Length of the header; a DPoP proof contains an RSA key of up to 4096 bits.
_MAX_HEADER_LENGTH = 4096

# Errors of the JOSE library for malformed headers, wrong types and deep nesting.
_UNREADABLE = (JoseError, ValueError, TypeError, AttributeError, RecursionError, msgspec.DecodeError)


class MalformedJwt(ValueError):
    """The text is not a signed JWT; the message does not repeat it."""


@dataclass(frozen=True, slots=True)
class SignedJwt:
    """A parsed JWT, not verified yet."""

    signature: jws.CompactSignature
    header: Mapping[str, object]
    claims: Mapping[str, object]

    def is_signed_by(self, key: Key, algorithms: Collection[str]) -> bool:
        """Whether the signature is valid, with one of these algorithms: RFC 8725 §3.1."""
        if self.header.get("alg") not in algorithms:
            return False
        registry = ForeignSignatures(algorithms=algorithms, strict_check_header=False)
        try:
            return jws.validate_compact(self.signature, key, registry=registry)
        except _UNREADABLE:
            return False

    def text(self, claim: str) -> str:
        """Return a string claim, empty when it is missing or of another type."""
        value = self.claims.get(claim)
        return value if isinstance(value, str) else ""

    def time(self, claim: str) -> float | None:
        """Return a numeric claim in Unix seconds, None when it is missing or of another type."""
        value = self.claims.get(claim)
        return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None

    def has_begun(self, latest: float) -> bool:
        """Whether `iat` and `nbf` are missing, or times that are not after this one: RFC 7519 §4.1.5, §4.1.6."""
        times = [self.time(claim) for claim in ("iat", "nbf") if claim in self.claims]
        return all(time is not None and time <= latest for time in times)


def parse(token: str) -> SignedJwt:
    """Parse a JWT; raises MalformedJwt."""
    try:
        signature = jws.extract_compact(token.encode(), registry=ForeignSignatures(strict_check_header=False))
        # RFC 7515 §4, RFC 7519 §4: a parser may also return the last of repeated members, which another one does not see.
        expect_unique_members(urlsafe_b64decode(signature.segments["header"] + b"=="))
        expect_unique_members(signature.payload)
        header = msgspec.convert(signature.protected, dict[str, object])
        claims = msgspec.json.decode(signature.payload, type=dict[str, object])
    except _UNREADABLE as error:
        raise MalformedJwt("expected a signed JWT") from error
    return SignedJwt(signature, header, claims)


def algorithms_of(named: str, *, among: Collection[str]) -> Collection[str]:
    """Return the algorithm that the client registered, or all of these; nothing if it is none of them."""
    return [algorithm for algorithm in among if named in {"", algorithm}]


class ForeignSignatures(jws.JWSRegistry):
    max_header_length = _MAX_HEADER_LENGTH

    def get_alg(self, name: str) -> JWSAlgModel:
        """Accept EdDSA, the name of RFC 8037 that clients use; the warning about it does not apply to them."""
        if name not in (self.allowed or ()):
            raise JoseError(description="the algorithm is not accepted")
        return self.algorithms[name]
