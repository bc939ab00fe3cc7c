"""Signature algorithms, one row each, in the order in which their keys are published.

RS256 stays first: relying parties that read one key only take the first.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import partial

from joserfc.jwk import Key, RSAKey


class SigningAlgorithm(StrEnum):
    """RFC 7518 §3.1."""

    RS256 = "RS256"


@dataclass(frozen=True, slots=True)
class KeyKind:
    """How the key of an algorithm is made; takes tens of milliseconds and more."""

    algorithm: SigningAlgorithm
    generate: Callable[[], Key]


KEY_KINDS = (KeyKind(SigningAlgorithm.RS256, partial(RSAKey.generate_key, 2048)),)
