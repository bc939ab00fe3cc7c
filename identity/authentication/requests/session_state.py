"""The session state of a client: OpenID Connect Session Management 1.0 §2.

It contains the browser state of the session only as a hash. The frame of the provider computes it in the same way:
edge/oidc/pages/static/check_session.js.
"""

import base64
import hashlib
from urllib.parse import urlsplit

_PORTS = {"http": 80, "https": 443}


def session_state(client_id: str, redirect_uri: str, browser_state: str, salt: str) -> str:
    """Return the state for pages of the origin of a redirect URI, empty where no page has such an origin."""
    origin = _origin_of(redirect_uri)
    if not origin:
        return ""
    digest = hashlib.sha256(f"{client_id} {origin} {browser_state} {salt}".encode()).digest()
    return f"{base64.urlsafe_b64encode(digest).rstrip(b'=').decode()}.{salt}"


def _origin_of(uri: str) -> str:
    """Return the origin as a browser writes it."""
    parts = urlsplit(uri)
    if parts.scheme not in _PORTS or not parts.hostname:
        return ""
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    port = "" if parts.port in {None, _PORTS[parts.scheme]} else f":{parts.port}"
    return f"{parts.scheme}://{host}{port}"
