"""The arguments of a statement, numbered in the order of their places."""

import re
from collections.abc import Iterable

_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


class Arguments:
    """Grows while the text of its statement is written; begins with the tenant whose rows are meant."""

    __slots__ = ("tenant", "tenant_id", "values")

    def __init__(self, tenant_id: str) -> None:
        self.values: list[object] = []
        self.tenant_id = tenant_id
        self.tenant = self.add(tenant_id)

    def add(self, value: object) -> str:
        """Take an argument and tell its place."""
        self.values.append(_storable(value))
        return f"${len(self.values)}"

    def add_integer(self, value: object) -> str:
        """Take one of 64 bits, whatever the width of the column: beyond the column's range it equals no row."""
        return f"{self.add(value)}::bigint"

    def add_all(self, values: Iterable[object]) -> str:
        """Take an array."""
        self.values.append([_storable(value) for value in values])
        return f"${len(self.values)}"


def _storable(value: object) -> object:
    """The value as a column holds it: PostgreSQL's texts know neither NUL nor lone surrogates."""
    if not isinstance(value, str) or (value.isascii() and "\0" not in value):
        return value
    return _UNSTORABLE.sub("\ufffd", value)
