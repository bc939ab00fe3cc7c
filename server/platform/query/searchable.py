"""The field table of an entity: all that a search has to know about it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from server.platform.query.clauses import Clause
from server.platform.query.conditions import Condition, Operator
from server.platform.query.fields import Field, FieldType, Scalar, fields_of
from server.platform.query.model import EVERYTHING, Query, SortKey, Window
from server.platform.query.readings import Reading

E_co = TypeVar("E_co", covariant=True)
E = TypeVar("E")

SORTED_CHARACTERS = 640
"""Characters of all texts in an order together: at four bytes each they fit into the 4096 of a cursor."""


@dataclass(frozen=True, slots=True)
class Association:
    """A filter field that asks for a row of another entity: one whose `link` is the key of the row that is searched.

    `field` is the other entity's field that the filter field stands for; fields of one filter that agree in the rest ask
    for one row. With None, each value of the filter field is a filter by itself, for a row of its own. The other row
    meets the conditions `besides` as well. With `key`, the link holds that field of the row instead of its key.
    """

    searchable: "Searchable[object]"
    link: str
    field: str | None = None
    besides: tuple[Condition, ...] = ()
    key: str | None = None

    @property
    def row(self) -> tuple[type, str, tuple[Condition, ...], str | None]:
        """The same for fields that ask for one row."""
        return self.searchable.entity, self.link, self.besides, self.key


@dataclass(frozen=True, slots=True)
class Searchable(Generic[E_co]):
    """`key` names the field that tells rows apart; `derived` are filter fields that no attribute stands for.

    `associations` are filter fields that rows of other entities stand for, `items` those that ask for an item of a list,
    each with the list's name.
    """

    entity: type[E_co]
    key: Field
    fields: Mapping[str, Field]
    derived: Mapping[str, Reading]
    associations: Mapping[str, Association] = field(default_factory=dict)
    items: Mapping[str, str] = field(default_factory=dict)

    @staticmethod
    def of(
        entity: type[E],
        key: str,
        *,
        indexed: Collection[str] = (),
        derived: Mapping[str, Reading] | None = None,
        associations: Mapping[str, Association] | None = None,
        items: Mapping[str, str] | None = None,
        aliases: Mapping[str, str] | None = None,
    ) -> "Searchable[E]":
        """Read the fields from the entity's annotations; `indexed` names those that are looked up by value.

        `aliases` are other names of fields in requests, each with the attribute that it stands for.
        """
        fields = dict(fields_of(entity, indexed=indexed))
        fields.update({alias: fields[name] for alias, name in (aliases or {}).items()})
        return Searchable(entity, fields[key], fields, derived or {}, associations or {}, items or {})

    def order(self, keys: Sequence[SortKey]) -> tuple[SortKey, ...]:
        """Make an order total: what follows the key is without effect, and a missing key is appended."""
        names = [key.field.name for key in keys]
        wanted = keys[: names.index(self.key.name)] if self.key.name in names else keys
        tie_breaker = keys[len(wanted)] if len(wanted) < len(keys) else SortKey(self.key)
        texts = sum(key.field.type is FieldType.TEXT for key in wanted)
        return (*(_shortened(key, SORTED_CHARACTERS // max(texts, 1)) for key in wanted), tie_breaker)

    def query(self, *clauses: Clause, sort: Sequence[SortKey] = (), window: Window = EVERYTHING) -> Query:
        """Make a query of the program's own."""
        return Query(clauses, self.order(sort), window)


def equals(searchable: Searchable[object], name: str, value: Scalar) -> Condition:
    """Make the condition that a field has this value."""
    return Condition(searchable.fields[name], Operator.EQ, value)


def _shortened(key: SortKey, length: int) -> SortKey:
    return replace(key, length=length) if key.field.type is FieldType.TEXT else key
