"""Functions on booleans, and on the presence of values."""

from server.feel.errors import AssertionFailedError
from server.feel.signatures import Family
from server.feel.values import Value, type_name


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


def is_(value1: Value = None, value2: Value = None) -> bool:
    """Whether both values have the same type and representation; the same instant in two zones differs."""
    return type_name(value1) == type_name(value2) and value1 == value2


FUNCTIONS: Family = {
    "is": is_,
    "not": not_,
    "is defined": is_defined,
    "get or else": get_or_else,
    "assert": assert_,
}
