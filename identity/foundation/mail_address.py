"""E-mail addresses of accounts: RFC 5321 §4.1.2, with other scripts as RFC 6531 §3.3 and RFC 5890 say.

Characters of other scripts before the @ belong to the IdentifierClass of RFC 8264, so that nobody has an address that
looks like another one. Addresses that were stored before keep working; only new and changed ones are checked.
"""

import re
import unicodedata

import idna

from identity.foundation.visible_text import is_identifier, visible_name

_MOST_CHARACTERS = 254
_LOCAL = re.compile(r"[^\s\x00-\x1f\x7f<>()\[\],;:\\\"@]{1,64}")
_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
_MOST_OF_DOMAIN = 253


def mail_address(text: str) -> str:
    """Return an address in its stored form, empty for a text that is no address."""
    given = text.strip(" ")
    # The mapping of domain names drops some invisible characters.
    if len(given) > _MOST_CHARACTERS or " " in given or visible_name(given) is None:
        return ""
    address = email_key(unicodedata.normalize("NFC", given))
    local, _, domain = address.rpartition("@")
    is_local = _LOCAL.fullmatch(local) is not None and is_identifier(local)
    return address if is_local and len(address) <= _MOST_CHARACTERS and _is_domain(domain) else ""


def email_key(email: str) -> str:
    """Return an address in its stored form: lower case, an internationalized domain as A-labels (RFC 5890)."""
    local, at, domain = email.strip().lower().rpartition("@")
    return f"{local}{at}{_ascii(domain.removesuffix('.'))}"


def _is_domain(domain: str) -> bool:
    labels = domain.split(".")
    return len(domain) <= _MOST_OF_DOMAIN and all(map(_is_label, labels))


def _is_label(label: str) -> bool:
    if _LABEL.fullmatch(label) is None:
        return False
    if not label.startswith("xn--"):
        return True
    try:
        return bool(idna.decode(label))
    except idna.IDNAError:
        return False


def _ascii(domain: str) -> str:
    if domain.isascii():
        return domain
    try:
        return idna.encode(domain, uts46=True).decode()
    except idna.IDNAError:
        # It is not a domain, so no account has such an address.
        return domain
