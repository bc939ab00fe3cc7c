"""Orders, and where a page begins in one.

Positions are compared in OR form, because directions mix and values may be missing, beside a bound of the first key:
redundant, and the part that an index understands.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from server.platform.query.fields import FieldType, Scalar
from server.platform.query.model import Position, SortKey
from server.platform.query.sql.arguments import Arguments
from server.platform.query.sql.relation import START_CHARACTERS, Relation, quoted, start_of


@dataclass(frozen=True, slots=True)
class Order:
    """A query's order, or what is left of it; reversed, it is read backwards."""

    keys: Sequence[SortKey]
    relation: Relation
    is_reversed: bool

    def text(self) -> str:
        items = [self._item(key, self._expression(key)) for key in self.keys]
        if self._begins_with_start:
            items.insert(0, self._item(self.keys[0], self._first()))
        return ", ".join(items)

    def beyond(self, position: Position, arguments: Arguments) -> str:
        """Predicate of the rows that come later than a position."""
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
        """Whether an index has the start of the first value, by which rows are in order so far."""
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
        """Rows whose value of a key comes later; missing values come last, and so first when read backwards."""
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
        """The first key as an index holds it."""
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
