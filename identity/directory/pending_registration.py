"""A registration that waits until the owner of its address confirms it.

Anybody can send the form for any address, before its owner or after. A second form does not change the account. The
record names the one attempt whose link counts. An account with more than one form is *contested*: none of the passwords
counts, and its owner chooses one after the confirmation.
"""

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

_MOST_LETTERS = 5
_PERIOD = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingRegistration:
    """`attempt` names the one link that counts; `letters` were sent since `counted_from`.

    `client_id` and `return_uri` say where the person came from and goes on. With a `password_hash` there was another form
    after the one that made the account, and the rest is what that form said.
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

    @property
    def is_contested(self) -> bool:
        """Whether more than one form was sent for the address, by the same person or by others."""
        return bool(self.password_hash)

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
