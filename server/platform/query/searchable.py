"""The search description of an entity: its fields, filters and relations."""

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
"""Characters of all sort keys together: at four bytes each they fit into a cursor of 4096 bytes."""


@dataclass(frozen=True, slots=True)
class Association:
    """A filter field about a related row of another entity, whose `link` is the key of the searched row.

    `field` is the other entity's field that the filter field corresponds to; filter fields that are equal
    otherwise refer to the same related row. If `field` is None, each value of the filter field is a filter of
    its own, for its own related row. The related row must also meet the conditions `besides`. If `key` is
    set, the link refers to that field of the searched row instead of its key.
    """

    searchable: "Searchable[object]"
    link: str
    field: str | None = None
    besides: tuple[Condition, ...] = ()
    key: str | None = None

    @property
    def row(self) -> tuple[type, str, tuple[Condition, ...], str | None]:
        """Identifies the related row: equal for filter fields about the same one."""
        return self.searchable.entity, self.link, self.besides, self.key


@dataclass(frozen=True, slots=True)
class Searchable(Generic[E_co]):
    """The search description of an entity. `key` is the unique field, `derived` are filter fields without an attribute.

    `associations` are filter fields about related rows. `items` are filter fields about an item of a list,
    with the list's name. `contents` are texts of any length that most searches do not show.
    """

    entity: type[E_co]
    key: Field
    fields: Mapping[str, Field]
    derived: Mapping[str, Reading]
    associations: Mapping[str, Association] = field(default_factory=dict)
    items: Mapping[str, str] = field(default_factory=dict)
    contents: frozenset[str] = frozenset()

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
        contents: Collection[str] = (),
    ) -> "Searchable[E]":
        """Derive the fields from the entity's annotations; `indexed` are fields with a lookup by value.

        `aliases` are other names of fields in requests, each with its attribute.
        """
        fields = dict(fields_of(entity, indexed=indexed))
        fields.update({alias: fields[name] for alias, name in (aliases or {}).items()})
        return Searchable(
            entity,
            fields[key],
            fields,
            derived or {},
            associations or {},
            items or {},
            frozenset(contents),
        )

    def order(self, keys: Sequence[SortKey]) -> tuple[SortKey, ...]:
        """Make an order total: append the key if it is missing, and drop sort keys after it."""
        names = [key.field.name for key in keys]
        wanted = keys[: names.index(self.key.name)] if self.key.name in names else keys
        tie_breaker = keys[len(wanted)] if len(wanted) < len(keys) else SortKey(self.key)
        texts = sum(key.field.type is FieldType.TEXT for key in wanted)
        return (*(_shortened(key, SORTED_CHARACTERS // max(texts, 1)) for key in wanted), tie_breaker)

    def query(self, *clauses: Clause, sort: Sequence[SortKey] = (), window: Window = EVERYTHING) -> Query:
        """Return a query for the program's own use."""
        return Query(clauses, self.order(sort), window)


def equals(searchable: Searchable[object], name: str, value: Scalar) -> Condition:
    """Return the condition that a field has this value."""
    return Condition(searchable.fields[name], Operator.EQ, value)


def _shortened(key: SortKey, length: int) -> SortKey:
    return replace(key, length=length) if key.field.type is FieldType.TEXT else key
