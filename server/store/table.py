"""The rows of one entity in memory, by key, and for each tenant in order and by indexed fields."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from operator import attrgetter
from typing import Generic

from server.engine.keys import Key
from server.platform.query import Clause, Condition, Operator, Ordered, Scalar, Searchable
from server.store.ports import E


class Shelf(Generic[E]):
    """The rows of one tenant; a field is indexed from the first search by it on."""

    __slots__ = ("_indexed", "_indexes", "_key", "entries", "rows")

    def __init__(self, searchable: Searchable[E]) -> None:
        self._key = attrgetter(searchable.key.name)
        self.rows: Ordered[E] = Ordered(self._key)
        self._indexes: dict[str, dict[Scalar, Ordered[E]]] = {}
        self._indexed: frozenset[str] = frozenset()
        # Each index with a getter of its field, for adding rows to all indexes.
        self.entries: list[tuple[dict[Scalar, Ordered[E]], Callable[[E], Scalar | None]]] = []

    def enter(self, row: E) -> None:
        """Add a row to the indexes."""
        for index, value_of in self.entries:
            value = value_of(row)
            if value is not None:
                rows = index.get(value)
                if rows is None:
                    rows = index[value] = Ordered(self._key)
                rows.add(row)

    def leave(self, row: E) -> None:
        """Remove a row from the indexes."""
        for index, value_of in self.entries:
            self._leave(row, index, value_of(row))

    def change(self, row: E, values: Mapping[str, object]) -> None:
        moved = () if self._indexed.isdisjoint(values) else self._indexed & values.keys()
        for name in moved:
            self._leave(row, self._indexes[name], getattr(row, name))
        for name, value in values.items():
            setattr(row, name, value)
        for name in moved:
            self._enter(row, self._indexes[name], getattr(row, name))

    def rows_with(self, name: str, value: Scalar) -> Sequence[E]:
        """Rows whose indexed field has this value."""
        return self._index(name).get(value, ())

    def _index(self, name: str) -> dict[Scalar, Ordered[E]]:
        """The rows by the values of a field; building the index takes as long as a search without one."""
        index = self._indexes.get(name)
        if index is None:
            index = self._indexes[name] = {}
            self._indexed = frozenset(self._indexes)
            value_of = attrgetter(name)
            self.entries.append((index, value_of))
            for row in self.rows:
                self._enter(row, index, value_of(row))
        return index

    def _enter(self, row: E, index: dict[Scalar, Ordered[E]], value: Scalar) -> None:
        if value is not None:
            rows = index.get(value)
            if rows is None:
                rows = index[value] = Ordered(self._key)
            rows.add(row)

    def _leave(self, row: E, index: dict[Scalar, Ordered[E]], value: Scalar | None) -> None:
        if value is not None and not index[value].remove(row):
            del index[value]


class Table(Generic[E]):
    """The rows of one entity; readers must not keep a row beyond the next commit."""

    def __init__(self, searchable: Searchable[E]) -> None:
        self.columns = frozenset(searchable.entity.__struct_fields__)
        self.key_of: Callable[[E], Key] = attrgetter(searchable.key.name)
        self._searchable = searchable
        self._rows: dict[Scalar, E] = {}
        self._shelves: dict[str | None, Shelf[E]] = {}
        # Whether a row with this key exists.
        self.has: Callable[[Key], bool] = self._rows.__contains__

    def get(self, key: Key) -> E | None:
        return self._rows.get(key)

    def insert(self, row: E) -> None:
        key, tenant_id = self.key_of(row), row.tenant_id
        self._rows[key] = row
        shelf = self._shelves.get(tenant_id)
        if shelf is None:
            shelf = self._shelves[tenant_id] = Shelf(self._searchable)
        # Most tables have no index, so the call is skipped.
        shelf.rows.add(row)
        if shelf.entries:
            shelf.enter(row)

    def update(self, key: Key, values: Mapping[str, object]) -> E | None:
        """Update a row, if it exists."""
        row = self._rows.get(key)
        if row is not None:
            self._shelves[row.tenant_id].change(row, values)
        return row

    def remove(self, row: E) -> None:
        """Remove a row, if it exists."""
        key = self.key_of(row)
        if self._rows.get(key) is row:
            del self._rows[key]
            shelf = self._shelves[row.tenant_id]
            shelf.rows.remove(row)
            if shelf.entries:
                shelf.leave(row)

    def of(self, tenant_id: str) -> Sequence[E]:
        """The rows of a tenant in the order of their keys."""
        shelf = self._shelves.get(tenant_id)
        return [*shelf.rows] if shelf is not None else []

    def rows_with(self, name: str, value: Scalar, *, tenant_id: str) -> Sequence[E]:
        """Rows of a tenant whose indexed field has this value, in the order of their keys."""
        shelf = self._shelves.get(tenant_id)
        return shelf.rows_with(name, value) if shelf else ()

    def candidates(self, clauses: Iterable[Clause], *, tenant_id: str) -> Sequence[E]:
        """Rows of a tenant in key order: all that match the clauses, and as few others as the indexes allow.

        Rows without a tenant belong to all tenants.
        """
        shelf, common = self._shelves.get(tenant_id), self._shelves.get(None)
        if common is not None:
            return sorted((*common.rows, *(shelf.rows if shelf is not None else ())), key=self.key_of)
        if shelf is None:
            return ()
        conditions = [clause for clause in clauses if isinstance(clause, Condition)]
        found = [rows for condition in conditions if (rows := self._found(condition, tenant_id)) is not None]
        return min(found, key=len, default=shelf.rows)

    def _found(self, condition: Condition, tenant_id: str) -> Sequence[E] | None:
        name, values = condition.field.name, _values(condition)
        if values is None or not (condition.field.is_indexed or name == self._searchable.key.name):
            return None
        if condition.field.is_indexed and len(values) == 1:
            return self.rows_with(name, *values, tenant_id=tenant_id)
        if condition.field.is_indexed:
            rows = chain.from_iterable(self.rows_with(name, value, tenant_id=tenant_id) for value in values)
            return sorted(rows, key=self.key_of)
        present = (self._rows[value] for value in values if value in self._rows)
        return sorted((row for row in present if row.tenant_id == tenant_id), key=self.key_of)


def _values(condition: Condition) -> frozenset[Scalar] | None:
    """The values that a condition allows; None when it does not list them."""
    operand = condition.operand
    if condition.operator is Operator.IN and isinstance(operand, tuple):
        return frozenset(operand)
    if condition.operator is Operator.EQ and not isinstance(operand, tuple):
        return frozenset((operand,))
    return None
