"""Signature algorithms, one row each, in the order in which their keys are published.

RS256 stays first, for relying parties that read only the first key.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import partial

from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from joserfc.jwk import ECKey, OKPKey, RSAKey

PrivateKey = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey

_EXPONENT = 65537


class SigningAlgorithm(StrEnum):
    """RFC 7518 §3.1, RFC 8037 §3.1."""

    RS256 = "RS256"
    ES256 = "ES256"
    EDDSA = "EdDSA"
    RS384 = "RS384"
    RS512 = "RS512"


@dataclass(frozen=True, slots=True)
class KeyKind:
    """How the key of an algorithm is generated, and its type in the JOSE library.

    Generation takes milliseconds if it `is_quick`, else up to seconds.
    """

    algorithm: SigningAlgorithm
    generate: Callable[[], PrivateKey]
    jwk: type[RSAKey] | type[ECKey] | type[OKPKey]
    is_quick: bool = True


ALGORITHMS = (
    KeyKind(SigningAlgorithm.RS256, partial(rsa.generate_private_key, _EXPONENT, 2048), RSAKey),
    KeyKind(SigningAlgorithm.ES256, partial(ec.generate_private_key, ec.SECP256R1()), ECKey),
    KeyKind(SigningAlgorithm.EDDSA, ed25519.Ed25519PrivateKey.generate, OKPKey),
    KeyKind(
        SigningAlgorithm.RS384, partial(rsa.generate_private_key, _EXPONENT, 3072), RSAKey, is_quick=False
    ),
    KeyKind(
        SigningAlgorithm.RS512, partial(rsa.generate_private_key, _EXPONENT, 4096), RSAKey, is_quick=False
    ),
)

KIND_OF = {kind.algorithm: kind for kind in ALGORITHMS}
