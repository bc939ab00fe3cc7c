"""Signature algorithms that the provider creates and verifies."""

from collections.abc import Iterable

from joserfc.errors import UnsupportedAlgorithmError
from joserfc.jwa import JWSAlgModel
from joserfc.jws import JWSRegistry

from identity.crypto.jose.algorithms import SigningAlgorithm


class SignatureRegistry(JWSRegistry):
    """Exactly these algorithms.

    RFC 9864 renames EdDSA, and the library warns about the old name; OpenID Connect still uses it.
    """

    def __init__(self, algorithms: Iterable[SigningAlgorithm]) -> None:
        super().__init__(algorithms=[algorithm.value for algorithm in algorithms])

    def get_alg(self, name: str) -> JWSAlgModel:
        if name not in (self.allowed or ()):
            raise UnsupportedAlgorithmError("the algorithm is not allowed")
        return self.algorithms[name]


SIGNATURES = SignatureRegistry(SigningAlgorithm)
