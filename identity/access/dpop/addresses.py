"""Normalization of URIs for comparison: RFC 3986 §6.2.2, §6.2.3, without query and fragment."""

from urllib.parse import urlsplit

_DEFAULT_PORTS = {"http": 80, "https": 443}


def normalised(address: str) -> str:
    """Return scheme, host, port and path in normal form; empty for other than http and https URIs."""
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        return ""
    if parts.scheme not in _DEFAULT_PORTS or not parts.hostname or "@" in parts.netloc:
        return ""
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    is_default = port in (None, _DEFAULT_PORTS[parts.scheme])
    return f"{parts.scheme}://{host}{'' if is_default else f':{port}'}{parts.path or '/'}"
