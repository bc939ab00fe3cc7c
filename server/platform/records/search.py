"""SQL for searches over the records of one kind."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from server.platform.call import TenantId
from server.platform.query import AnyOf, Condition, Field, FieldType, Operator, Query
from server.platform.query.sql import (
    Relation,
    Statement,
    count_of,
    counted_page_of,
    page_of,
    page_of_first,
)
from server.platform.records.port import Kind

_EXPIRES_AT = Field("expires_at", FieldType.DATE_TIME)


FEW = 1000
"""Up to this number of matches, sorting them is faster than reading an index in order."""


FIRST = 500
"""This number of records is read in order before all matches are looked up in an index of words."""


@dataclass(frozen=True, slots=True)
class Search:
    """The statements of a search; a page that ends before a position comes in reverse order.

    `first_page` has the matches among the next FIRST records, for searches by beginnings of words in the order of an
    index: an index of words reads all matches of a beginning, however small the page is. `counted_page` has the page and the number of matches, if there are not more than FEW.
    """

    counted_page: Statement
    page: Statement
    count: Statement
    first_page: Statement | None


def search_of(kind: Kind[Any], query: Query, *, tenant_id: TenantId, now: datetime) -> Search:
    """Create the statements of a search over records that have not expired by `now`."""
    lives = AnyOf(
        (
            (Condition(_EXPIRES_AT, Operator.EXISTS, operand=False),),
            (Condition(_EXPIRES_AT, Operator.GT, now),),
        )
    )
    asked = replace(query, clauses=(*query.clauses, lives))
    relation = _relation(kind, query)
    return Search(
        counted_page_of(relation, asked, tenant_id=tenant_id, most=FEW + 1),
        page_of(relation, asked, tenant_id=tenant_id),
        count_of(relation, asked.clauses, tenant_id=tenant_id),
        page_of_first(relation, asked, tenant_id=tenant_id, most=FIRST)
        if _may_begin(query, relation)
        else None,
    )


def _may_begin(query: Query, relation: Relation) -> bool:
    first, window = query.sort[0].field.name, query.window
    is_in_order = len(query.sort) == 1 or first in relation.in_order
    by_words = any(isinstance(each, Condition) and each.operator is Operator.BEGINS for each in query.clauses)
    return (
        by_words and is_in_order and window.limit is not None and window.limit <= FIRST and not window.offset
    )


def _relation(kind: Kind[Any], query: Query) -> Relation:
    """Return the relation of a kind; all fields may be missing except the query's key, the last of its order."""
    sorted_by = tuple(dict.fromkeys(key.field.name for key in query.sort))
    found_by = frozenset((*kind.unique, *kind.indexed, *kind.derived)) - {sorted_by[-1]}
    ordered = frozenset(kind.ordered) & found_by
    return Relation(
        f'identity."{kind.name}"',
        columns=("content", *sorted_by),
        nullable=found_by,
        short=frozenset(),
        by_start=ordered,
        guarded=frozenset(),
        in_order=ordered,
        words=frozenset(kind.words),
    )
