"""Hostnames of tenants: RFC 1123 §2.1, internationalized ones as A-labels."""

import re
from ipaddress import ip_address

_MAX_LENGTH = 253
_HOSTNAME = re.compile(r"(?!-)[a-z0-9-]{1,63}(?<!-)(\.(?!-)[a-z0-9-]{1,63}(?<!-))+")


def hostname_of(text: str) -> str:
    """Return a hostname in lower case without a final dot; raises ValueError for an invalid one."""
    hostname = text.lower().removesuffix(".")
    if len(hostname) > _MAX_LENGTH or _HOSTNAME.fullmatch(hostname) is None or _is_address(hostname):
        raise ValueError("hostname: expected a domain name of two labels at least, without scheme and port")
    return hostname


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True
