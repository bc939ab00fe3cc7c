"""Functions on booleans, and on whether there is a value at all."""

from server.feel.errors import AssertionFailedError
from server.feel.signatures import Family
from server.feel.values import Value


def not_(negand: bool) -> Value:  # noqa: FBT001 - how FEEL calls it
    return not negand


def is_defined(value: Value) -> bool:
    return value is not None


def get_or_else(value: Value, default: Value) -> Value:
    return default if value is None else value


def assert_(value: Value, condition: Value, cause: str = "The condition is not fulfilled") -> Value:
    if condition is not True:
        raise AssertionFailedError(cause)
    return value


FUNCTIONS: Family = {
    "not": not_,
    "is defined": is_defined,
    "get or else": get_or_else,
    "assert": assert_,
}
