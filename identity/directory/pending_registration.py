"""A registration whose e-mail address is not confirmed yet.

Anybody can submit the form for any address, before its owner or after. A second form does not change the account. The
record names the one attempt whose link is valid. An account with more than one form is *contested*: none of the
passwords is valid, and the owner chooses one after the confirmation.
"""

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

_MOST_LETTERS = 5
_PERIOD = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingRegistration:
    """`attempt` identifies the valid link; `letters` counts mails since `counted_from`.

    `client_id` and `return_uri` name the client that the user came from and returns to. With a `password_hash` a
    further form was submitted after the one that created the account; the remaining members are those of that form.
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
        """Whether more than one form was submitted for the address."""
        return bool(self.password_hash)

    def may_be_sent(self, now: datetime) -> bool:
        """Whether the rate limit of mails to the address allows another one."""
        return self.letters < _MOST_LETTERS or self._is_long_ago(now)

    def sent_again(self, attempt: str, now: datetime) -> "PendingRegistration":
        """Return it with a new attempt and its mail counted; links of earlier attempts become invalid."""
        if self._is_long_ago(now):
            return replace(self, attempt=attempt, letters=1, counted_from=now)
        return replace(self, attempt=attempt, letters=self.letters + 1)

    def done(self) -> "PendingRegistration":
        """Return the members that stay after the confirmation: the client to return to."""
        return PendingRegistration(attempt=self.attempt, client_id=self.client_id, return_uri=self.return_uri)

    def _is_long_ago(self, now: datetime) -> bool:
        return self.counted_from is None or self.counted_from + _PERIOD <= now
