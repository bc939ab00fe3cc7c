"""Values of the FedCM cookie, which is sent with requests of other sites.

The value is derived from the session cookie, which cannot be computed from it. It opens the FedCM endpoints only.
"""

import hmac

_PURPOSE = b"FedCM"


def way_to(cookie: str, sid: str) -> str:
    """Return the value for the session with this cookie and this `sid`."""
    return f"{sid}.{secret_of(cookie)}"


def parts_of(way: str) -> tuple[str, str]:
    """Return the `sid` and the secret; both are empty for a malformed value."""
    sid, _, secret = way.partition(".")
    return (sid, secret) if secret else ("", "")


def secret_of(cookie: str) -> str:
    return hmac.digest(cookie.encode(), _PURPOSE, "sha256").hex()
