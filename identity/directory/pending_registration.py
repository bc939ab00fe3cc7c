"""What waits until the owner of an address confirms it.

Whoever registers an address that waits already does not change its account: anybody may be the first, and anybody the
second. What the last one asked for takes the place of the account's own when the owner follows the link of that attempt,
and no other link is good then.
"""

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

_MOST_LETTERS = 5
_PERIOD = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingRegistration:
    """`attempt` names the one link that counts; `letters` were sent since `counted_from`.

    `client_id` and `return_uri` say where the person came from and goes on. With a `password_hash` the rest is what was
    asked for after the account was made; without, the account is as it is to be.
    """

    attempt: str
    letters: int = 0
    counted_from: datetime | None = None
    client_id: str = ""
    return_uri: str = ""
    password_hash: str = field(default="", repr=False)
    password_until: datetime | None = None
    given_name: str = ""
    family_name: str = ""
    preferred_username: str = ""

    def may_be_sent(self, now: datetime) -> bool:
        """Whether the address did not get so many letters lately that one more is a nuisance."""
        return self.letters < _MOST_LETTERS or self._is_long_ago(now)

    def sent_again(self, attempt: str, now: datetime) -> "PendingRegistration":
        """Return it with the letter of another attempt, after which those before count no more."""
        if self._is_long_ago(now):
            return replace(self, attempt=attempt, letters=1, counted_from=now)
        return replace(self, attempt=attempt, letters=self.letters + 1)

    def done(self) -> "PendingRegistration":
        """Return what is left of it after the confirmation: where the person goes on."""
        return PendingRegistration(attempt=self.attempt, client_id=self.client_id, return_uri=self.return_uri)

    def _is_long_ago(self, now: datetime) -> bool:
        return self.counted_from is None or self.counted_from + _PERIOD <= now
