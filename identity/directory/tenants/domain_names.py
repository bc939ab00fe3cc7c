"""Domain names in their stored form: A-labels in lower case, without a final dot."""

import idna

from identity.directory.tenants.hostnames import hostname_of

TXT_PREFIX = "_gnomon-challenge."

_MAX_LENGTH = 253 - len(TXT_PREFIX)


def domain_name_of(text: str) -> str:
    """Return the stored form of a name, RFC 5891 §4 after UTS 46; raises ValueError for an invalid one.

    Single labels, IP addresses, and names too long for a TXT record below them are invalid.
    """
    try:
        name = hostname_of(idna.encode(text, uts46=True).decode())
    except ValueError as error:
        raise ValueError("domain: expected a domain name of two labels at least") from error
    if len(name) > _MAX_LENGTH:
        raise ValueError(f"domain: expected at most {_MAX_LENGTH} characters")
    return name
