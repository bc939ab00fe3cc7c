"""HTTP sessions for outgoing requests: no cookies, no proxies, and names are checked by their resolved addresses."""

from collections.abc import Callable

from aiohttp import ClientSession, ClientTimeout, DummyCookieJar, TCPConnector

from identity.delivery.http.destinations import GuardedResolver

_MOST_CONNECTIONS = 100


def guarded_session(
    timeout_secs: float, is_refused: Callable[[str], bool], *, connections: int = _MOST_CONNECTIONS
) -> ClientSession:
    """Open a session; the caller checks literal addresses, which are not resolved, and follows no redirect.

    The time of a request includes the wait for one of the `connections`. With 0 there is no bound.
    """
    return ClientSession(
        connector=TCPConnector(resolver=GuardedResolver(is_refused), limit=connections),
        cookie_jar=DummyCookieJar(),
        timeout=ClientTimeout(total=timeout_secs),
        # The bound of the size applies to the transferred bytes.
        auto_decompress=False,
    )
