"""Refusal of a new password, with a reason that programs and pages can distinguish."""

from enum import StrEnum

from server.platform.errors import InvalidArgument


class PasswordReason(StrEnum):
    """Rule that a new password breaks; also the `cause` of the error."""

    TOO_SHORT = "PASSWORD_TOO_SHORT"
    TOO_LONG = "PASSWORD_TOO_LONG"
    LACKS_LOWER_CASE = "PASSWORD_LACKS_LOWER_CASE"
    LACKS_UPPER_CASE = "PASSWORD_LACKS_UPPER_CASE"
    LACKS_DIGITS = "PASSWORD_LACKS_DIGITS"
    LACKS_SPECIAL = "PASSWORD_LACKS_SPECIAL"
    OWN_NAME = "PASSWORD_OWN_NAME"
    EASILY_GUESSED = "PASSWORD_EASILY_GUESSED"
    BREACHED = "PASSWORD_BREACHED"
    USED_BEFORE = "PASSWORD_USED_BEFORE"
    KEPT_ELSEWHERE = "PASSWORD_KEPT_ELSEWHERE"


class PasswordRefused(InvalidArgument):
    """`count` is the number in the rule, 0 for a rule without one."""

    def __init__(self, detail: str, reason: PasswordReason, *, count: int = 0) -> None:
        super().__init__(detail, cause=reason.value, count=str(count))
