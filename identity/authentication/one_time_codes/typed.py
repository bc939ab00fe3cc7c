"""Normalization of codes that users type with separators."""

import re
from enum import StrEnum

from identity.authentication.one_time_codes.totp import DIGITS

RECOVERY_LENGTH = 24
"""Of base32: 120 bits, so that a keyed hash is enough (OWASP ASVS 5, 6.5.2)."""

_SEPARATORS = re.compile(r"[\s-]+")
_ONE_TIME = re.compile(rf"[0-9]{{{DIGITS}}}")
_RECOVERY = re.compile(rf"[A-Z2-7]{{{RECOVERY_LENGTH}}}")


class CodeKind(StrEnum):
    ONE_TIME = "one_time"
    RECOVERY = "recovery"


def plain(text: str) -> str:
    """Return the text without separators."""
    return _SEPARATORS.sub("", text).upper()


def kind_of(text: str) -> CodeKind | None:
    """Return the kind of code that the text can be, None for no code."""
    code = plain(text)
    if _ONE_TIME.fullmatch(code):
        return CodeKind.ONE_TIME
    return CodeKind.RECOVERY if _RECOVERY.fullmatch(code) else None
