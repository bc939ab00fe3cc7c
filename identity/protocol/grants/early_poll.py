"""The answer to a poll before the user has decided: RFC 8628 §3.5, CIBA Core 1.0 §11."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import NoReturn, TypeVar

from identity.access.polled_request import PolledRequest
from identity.foundation.errors import AuthorizationPending, SlowDown
from server.platform.records import Changed, Records

_TOLERANCE = timedelta(milliseconds=500)
_MORE = 5

T = TypeVar("T", bound=PolledRequest)


async def refuse_poll(requests: Records[T], request: T, now: datetime) -> NoReturn:
    """Raise AuthorizationPending, or SlowDown with a longer interval when the poll is too early."""
    is_early = now < request.next_poll_at - _TOLERANCE
    interval = request.interval + _MORE if is_early else request.interval
    noted = replace(request, interval=interval, next_poll_at=now + timedelta(seconds=interval))
    try:
        await requests.replace(noted)
    except Changed as error:
        # A concurrent poll or decision changed the record; the next poll sees it.
        raise AuthorizationPending("the user has not decided yet") from error
    if is_early:
        raise SlowDown("the client polls too often")
    raise AuthorizationPending("the user has not decided yet")
