"""Orders, and the start of a page within an order.

Positions are compared in OR form, because directions may differ and values may be missing. A redundant bound
on the first key is added, because an index can use it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from server.platform.query.fields import FieldType, Scalar
from server.platform.query.model import Position, SortKey
from server.platform.query.sql.arguments import Arguments
from server.platform.query.sql.relation import START_CHARACTERS, Relation, quoted, start_of


@dataclass(frozen=True, slots=True)
class Order:
    """The order of a query, or the rest of one; `is_reversed` reads it backwards."""

    keys: Sequence[SortKey]
    relation: Relation
    is_reversed: bool

    def text(self) -> str:
        return ", ".join(self._item(key, expression) for key, expression in self._items())

    def places(self) -> str:
        """Return the columns of a subquery that hold each row's place in the order."""
        return ", ".join(
            f"{expression} AS {_place_of(number)}" for number, (_, expression) in enumerate(self._items())
        )

    def text_of_places(self) -> str:
        """Return the order of a subquery's rows by these columns, which the planner knows to be theirs already."""
        return ", ".join(self._item(key, _place_of(number)) for number, (key, _) in enumerate(self._items()))

    def _items(self) -> Sequence[tuple[SortKey, str]]:
        items = [(key, self._expression(key)) for key in self.keys]
        return [(self.keys[0], self._first()), *items] if self._begins_with_start else items

    def beyond(self, position: Position, arguments: Arguments) -> str:
        """Return the predicate of the rows after a position."""
        places = [self._place(key, value, arguments) for key, value in zip(self.keys, position, strict=True)]
        later = self._later(0, places)
        bound = self._bound(places[0]) if len(self.keys) > 1 else None
        return f"{bound} AND {later}" if bound else later

    @staticmethod
    def _place(key: SortKey, value: Scalar | None, arguments: Arguments) -> str | None:
        if value is None:
            return None
        return arguments.add_integer(value) if key.field.type is FieldType.INTEGER else arguments.add(value)

    @property
    def _begins_with_start(self) -> bool:
        """Whether an index contains a prefix of the first key, so that rows can be read in the prefix's order."""
        key = self.keys[0]
        is_coarser = key.length is None or key.length >= START_CHARACTERS
        return is_coarser and key.field.name in self.relation.by_start

    def _item(self, key: SortKey, expression: str) -> str:
        if not self._descends(key):
            return f"{expression} NULLS FIRST" if self.is_reversed and self._may_miss(key) else expression
        return f"{expression} DESC NULLS LAST" if self._misses_last(key) else f"{expression} DESC"

    def _later(self, index: int, places: Sequence[str | None]) -> str:
        key, place = self.keys[index], places[index]
        strictly = self._strictly_later(key, place)
        if index == len(self.keys) - 1:
            return strictly or "FALSE"
        same = f"{self._expression(key)} {'IS NULL' if place is None else f'= {place}'}"
        rest = f"{same} AND {self._later(index + 1, places)}"
        return f"({strictly} OR {rest})" if strictly else f"({rest})"

    def _strictly_later(self, key: SortKey, place: str | None) -> str | None:
        """Return the predicate of the rows whose value of a key comes later.

        Missing values come last, so they come first when the order is reversed.
        """
        expression = self._expression(key)
        if place is None:
            return f"{expression} IS NOT NULL" if self.is_reversed else None
        later = f"{expression} {'<' if self._descends(key) else '>'} {place}"
        return f"({later} OR {expression} IS NULL)" if self._misses_last(key) else later

    def _bound(self, place: str | None) -> str | None:
        key = self.keys[0]
        if place is None or self._misses_last(key):
            return None
        value = start_of(place) if self._begins_with_start else place
        return f"{self._first()} {'<=' if self._descends(key) else '>='} {value}"

    def _first(self) -> str:
        """Return the first key as the index stores it."""
        key = self.keys[0]
        if self._begins_with_start:
            return start_of(quoted(key.field.name))
        return self._expression(key)

    def _expression(self, key: SortKey) -> str:
        column = quoted(key.field.name)
        if key.length is None or (key.length >= START_CHARACTERS and key.field.name in self.relation.short):
            return column
        return start_of(column, key.length)

    def _descends(self, key: SortKey) -> bool:
        return key.is_descending is not self.is_reversed

    def _may_miss(self, key: SortKey) -> bool:
        return key.field.name in self.relation.nullable

    def _misses_last(self, key: SortKey) -> bool:
        return self._may_miss(key) and not self.is_reversed


def _place_of(number: int) -> str:
    return quoted(f"#place{number}")
