"""Nonces of DPoP proofs."""

from dataclasses import dataclass

from identity.foundation.bounds import expect_within


@dataclass(frozen=True, slots=True, kw_only=True)
class DpopConfig:
    """[dpop]: RFC 9449; `nonce_lifetime_secs` is the lifetime of server nonces, 0 when proofs need none."""

    nonce_lifetime_secs: int = 900

    def __post_init__(self) -> None:
        expect_within("dpop.nonce_lifetime_secs", self.nonce_lifetime_secs, 0, 86_400)
