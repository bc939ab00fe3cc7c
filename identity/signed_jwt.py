"""JWTs as they come in: RFC 7519, with the signatures that RFC 7518 and RFC 8037 name.

Nothing is trusted before the signature holds: a header says only which of our keys, or which of a client's, to try.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import msgspec
from joserfc import jws
from joserfc.errors import JoseError
from joserfc.jwa import JWSAlgModel
from joserfc.jwk import Key

# What clients may sign assertions and proofs with: asymmetric alone.
CLIENT_ALGORITHMS = ("RS256", "ES256", "PS256", "EdDSA")

# Of the header; a proof carries an RSA key of up to 4096 bits in it.
_MAX_HEADER_LENGTH = 4096

# What the JOSE library makes of headers that are no object, of members of other types and of endless nesting.
_UNREADABLE = (JoseError, ValueError, TypeError, AttributeError, RecursionError, msgspec.DecodeError)


class MalformedJwt(ValueError):
    """What came in is no signed JWT of ours to read; never repeats it."""


@dataclass(frozen=True, slots=True)
class SignedJwt:
    """Parsed, not yet believed."""

    signature: jws.CompactSignature
    header: Mapping[str, object]
    claims: Mapping[str, object]

    def is_signed_by(self, key: Key, algorithms: Collection[str]) -> bool:
        """Whether the signature holds, with one of these algorithms: RFC 8725 §3.1."""
        if self.header.get("alg") not in algorithms:
            return False
        registry = ForeignSignatures(algorithms=algorithms, strict_check_header=False)
        try:
            return jws.validate_compact(self.signature, key, registry=registry)
        except _UNREADABLE:
            return False

    def text(self, claim: str) -> str:
        """Return a claim that is a text, empty when it is not there or is none."""
        value = self.claims.get(claim)
        return value if isinstance(value, str) else ""

    def time(self, claim: str) -> float | None:
        """Return a claim in Unix seconds, None when it is not there or is no number."""
        value = self.claims.get(claim)
        return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def parse(token: str) -> SignedJwt:
    """Take a JWT apart; raises MalformedJwt."""
    try:
        signature = jws.extract_compact(token.encode(), registry=ForeignSignatures(strict_check_header=False))
        header = msgspec.convert(signature.protected, dict[str, object])
        claims = msgspec.json.decode(signature.payload, type=dict[str, object])
    except _UNREADABLE as error:
        raise MalformedJwt("expected a signed JWT") from error
    return SignedJwt(signature, header, claims)


def algorithms_of(named: str) -> Collection[str]:
    """The algorithms that a client may sign with: the one that it named, or all that we take."""
    return (named,) if named else CLIENT_ALGORITHMS


class ForeignSignatures(jws.JWSRegistry):
    max_header_length = _MAX_HEADER_LENGTH

    def get_alg(self, name: str) -> JWSAlgModel:
        """RFC 8037's name EdDSA is the one that clients use; its successor's warning is not for them."""
        if name not in (self.allowed or ()):
            raise JoseError(description="the algorithm is not accepted")
        return self.algorithms[name]
