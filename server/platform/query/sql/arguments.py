"""The arguments of a statement, numbered in order."""

import re
from collections.abc import Iterable

_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


class Arguments:
    """The arguments of a statement under construction; the tenant is the first."""

    __slots__ = ("tenant", "tenant_id", "values")

    def __init__(self, tenant_id: str) -> None:
        self.values: list[object] = []
        self.tenant_id = tenant_id
        self.tenant = self.add(tenant_id)

    def add(self, value: object) -> str:
        """Add an argument and return its placeholder."""
        self.values.append(_storable(value))
        return f"${len(self.values)}"

    def add_integer(self, value: object) -> str:
        """Add a 64-bit integer for a column of any width; a value out of the column's range matches no row."""
        return f"{self.add(value)}::bigint"

    def add_all(self, values: Iterable[object]) -> str:
        """Add an array and return its placeholder."""
        self.values.append([_storable(value) for value in values])
        return f"${len(self.values)}"


def _storable(value: object) -> object:
    """Return a value as PostgreSQL can store it: texts without NUL and lone surrogates."""
    if not isinstance(value, str) or (value.isascii() and "\0" not in value):
        return value
    return _UNSTORABLE.sub("\ufffd", value)
