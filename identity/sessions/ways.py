"""Ways to sessions, for requests that other sites begin: what FedCM's cookie carries.

A way comes of the session's cookie, which does not come out of it: it opens what browsers ask for themselves, and nothing
that pages may do.
"""

import hmac

_PURPOSE = b"FedCM"


def way_to(cookie: str, sid: str) -> str:
    """Return the way to the session that has this cookie, and that the world knows so."""
    return f"{sid}.{secret_of(cookie)}"


def parts_of(way: str) -> tuple[str, str]:
    """Return what names the session, and the secret; both are empty in what is no way."""
    sid, _, secret = way.partition(".")
    return (sid, secret) if secret else ("", "")


def secret_of(cookie: str) -> str:
    return hmac.digest(cookie.encode(), _PURPOSE, "sha256").hex()
