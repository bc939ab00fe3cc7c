"""Requests for which a client polls the token endpoint until their user has decided: RFC 8628 §3.5."""

from dataclasses import dataclass
from datetime import datetime

from server.platform.records import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class PolledRequest(Record):
    """A client that polls before `next_poll_at` gets `slow_down`, and `interval`, in seconds, grows.

    Tokens are issued until `redeemable_until`. The record is kept longer, so that the client gets `expired_token`.
    """

    redeemable_until: datetime
    interval: int
    next_poll_at: datetime
