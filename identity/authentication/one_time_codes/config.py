"""[one_time_codes]: codes of authenticator apps, codes by mail, and recovery codes."""

from dataclasses import dataclass
from datetime import timedelta

from identity.foundation.bounds import expect_within

_ASKED_SECS = (30, 1800)
_PENDING_SECS = (60, 3600)
_MAILED_SECS = (60, 1800)
_MOST_MAILED = (1, 20)
_MOST_WRONG = (3, 20)
_PAUSE_SECS = (10, 3600)
_LONGEST_NAME = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class OneTimeCodeConfig:
    """`issuer_name` is the name that authenticator apps show beside the e-mail address.

    A request for a code is valid for `asked_secs`, and a new secret must be confirmed within `pending_secs`. After
    `most_wrong` wrong codes in a row, no one-time code of the account is accepted for `pause_secs`. The pause doubles
    each time, up to a day. A code by mail is valid for `mailed_secs`, and a user gets at most `most_mailed` of them in a
    quarter of an hour.
    """

    issuer_name: str = "Gnomon"
    asked_secs: int = 300
    pending_secs: int = 600
    most_wrong: int = 5
    pause_secs: int = 60
    mailed_secs: int = 600
    most_mailed: int = 5

    def __post_init__(self) -> None:
        expect_within("one_time_codes.asked_secs", self.asked_secs, *_ASKED_SECS)
        expect_within("one_time_codes.pending_secs", self.pending_secs, *_PENDING_SECS)
        expect_within("one_time_codes.most_wrong", self.most_wrong, *_MOST_WRONG)
        expect_within("one_time_codes.pause_secs", self.pause_secs, *_PAUSE_SECS)
        expect_within("one_time_codes.mailed_secs", self.mailed_secs, *_MAILED_SECS)
        expect_within("one_time_codes.most_mailed", self.most_mailed, *_MOST_MAILED)
        if not self.issuer_name or len(self.issuer_name) > _LONGEST_NAME or ":" in self.issuer_name:
            raise ValueError(
                f"one_time_codes.issuer_name: expected 1 to {_LONGEST_NAME} characters without colons"
            )

    @property
    def asked_lifetime(self) -> timedelta:
        return timedelta(seconds=self.asked_secs)

    @property
    def pending_lifetime(self) -> timedelta:
        return timedelta(seconds=self.pending_secs)

    @property
    def mailed_lifetime(self) -> timedelta:
        return timedelta(seconds=self.mailed_secs)

    @property
    def pause(self) -> timedelta:
        return timedelta(seconds=self.pause_secs)
