"""[webauthn]: passkeys, Web Authentication Level 3."""

from dataclasses import dataclass
from datetime import timedelta

from identity.foundation.bounds import expect_within

_CHALLENGE_SECS = (10, 600)
_CEREMONY_SECS = (10, 900)
_REMEMBERED_HOURS = (1, 8760)
_LONGEST_NAME = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class WebauthnConfig:
    """`rp_name` is the name that authenticators show to users.

    A challenge is valid for `challenge_secs`, and a ceremony for `ceremony_secs`. A browser that showed a passkey needs
    no password for `remembered_hours`. With `force_uv` every passkey must verify its user. With
    `no_password_expiry_with_passkey` the password of a user with a first passkey no longer expires.
    """

    rp_name: str = "Gnomon"
    challenge_secs: int = 60
    ceremony_secs: int = 90
    remembered_hours: int = 2160
    force_uv: bool = False
    no_password_expiry_with_passkey: bool = False

    def __post_init__(self) -> None:
        expect_within("webauthn.challenge_secs", self.challenge_secs, *_CHALLENGE_SECS)
        expect_within("webauthn.ceremony_secs", self.ceremony_secs, *_CEREMONY_SECS)
        expect_within("webauthn.remembered_hours", self.remembered_hours, *_REMEMBERED_HOURS)
        if not self.rp_name or len(self.rp_name) > _LONGEST_NAME:
            raise ValueError(f"webauthn.rp_name: expected 1 to {_LONGEST_NAME} characters")

    @property
    def challenge_lifetime(self) -> timedelta:
        return timedelta(seconds=self.challenge_secs)

    @property
    def ceremony_lifetime(self) -> timedelta:
        return timedelta(seconds=self.ceremony_secs)

    @property
    def remembered(self) -> timedelta:
        return timedelta(hours=self.remembered_hours)
