"""A tenant's policy for new passwords."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from identity.directory.password_rules.refusal import PasswordReason, PasswordRefused

MOST_REMEMBERED = 10
"""Each comparison costs as much as a sign-in."""

_LENGTH_MIN = range(8, 129)
_LENGTH_MAX = range(64, 257)
# The sum of the four fits into the smallest value of `length_max`.
_MOST_OF_A_CLASS = 16
_MOST_DAYS = 3650


@dataclass(frozen=True, slots=True, kw_only=True)
class PasswordPolicy:
    """By default only a length is required, NIST SP 800-63B-4 §3.1.1.2; 0 disables a rule.

    Lengths are in characters. A password is valid for `valid_days`. The last `not_recently_used` passwords, including
    the present one, cannot be reused. Raises ValueError for a number out of bounds.
    """

    length_min: int = 15
    length_max: int = 256
    include_lower_case: int = 0
    include_upper_case: int = 0
    include_digits: int = 0
    include_special: int = 0
    valid_days: int = 0
    not_recently_used: int = 3

    def __post_init__(self) -> None:
        bounds = {
            "length_min": _LENGTH_MIN,
            "length_max": _LENGTH_MAX,
            "include_lower_case": range(_MOST_OF_A_CLASS + 1),
            "include_upper_case": range(_MOST_OF_A_CLASS + 1),
            "include_digits": range(_MOST_OF_A_CLASS + 1),
            "include_special": range(_MOST_OF_A_CLASS + 1),
            "valid_days": range(_MOST_DAYS + 1),
            "not_recently_used": range(MOST_REMEMBERED + 1),
        }
        for name, bound in bounds.items():
            if getattr(self, name) not in bound:
                raise ValueError(f"{name}: expected {bound[0]} to {bound[-1]}")
        if self.length_min > self.length_max:
            raise ValueError("length_min: expected no more than length_max")

    def expect(self, password: str) -> None:
        """Raise PasswordRefused for the first broken rule."""
        if len(password) < self.length_min:
            detail = f"Minimum password length is {self.length_min}"
            raise PasswordRefused(detail, PasswordReason.TOO_SHORT, count=self.length_min)
        if len(password) > self.length_max:
            detail = f"Maximum password length is {self.length_max}"
            raise PasswordRefused(detail, PasswordReason.TOO_LONG, count=self.length_max)
        for each in self._classes():
            if sum(map(each.has, password)) < each.least:
                detail = f"minimum {each.name} count: {each.least}"
                raise PasswordRefused(detail, each.reason, count=each.least)

    def _classes(self) -> Iterator["_Class"]:
        reason = PasswordReason
        yield _Class("lower character", self.include_lower_case, str.islower, reason.LACKS_LOWER_CASE)
        yield _Class("upper character", self.include_upper_case, str.isupper, reason.LACKS_UPPER_CASE)
        yield _Class("digit", self.include_digits, str.isdecimal, reason.LACKS_DIGITS)
        yield _Class("special character", self.include_special, _is_special, reason.LACKS_SPECIAL)


@dataclass(frozen=True, slots=True)
class _Class:
    """A class of characters, and the least number of them."""

    name: str
    least: int
    has: Callable[[str], bool]
    reason: PasswordReason


def _is_special(character: str) -> bool:
    return not character.isalnum()
