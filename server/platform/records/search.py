"""SQL for searches of the records of one kind."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from server.platform.call import TenantId
from server.platform.query import AnyOf, Condition, Field, FieldType, Operator, Query
from server.platform.query.sql import Relation, Statement, bounded_count_of, count_of, page_of, page_of_few
from server.platform.records.port import Kind

_EXPIRES_AT = Field("expires_at", FieldType.DATE_TIME)


FEW = 1000
"""Up to this number of matches, sorting them is faster than reading an index in order."""


@dataclass(frozen=True, slots=True)
class Search:
    """The rows of a page, last first where it ends before a position, and the number of all matches.

    `bounded_count` counts up to one more than FEW, and `page_among` chooses the statement of the page by that number.
    """

    page: Statement
    page_of_few: Statement
    count: Statement
    bounded_count: Statement

    def page_among(self, matches: int) -> Statement:
        return self.page_of_few if matches <= FEW else self.page


def search_of(kind: Kind[Any], query: Query, *, tenant_id: TenantId, now: datetime) -> Search:
    """Make the statements of a search among the records that have not expired by `now`."""
    lives = AnyOf(
        (
            (Condition(_EXPIRES_AT, Operator.EXISTS, operand=False),),
            (Condition(_EXPIRES_AT, Operator.GT, now),),
        )
    )
    asked = replace(query, clauses=(*query.clauses, lives))
    relation = _relation(kind, query)
    return Search(
        page_of(relation, asked, tenant_id=tenant_id),
        page_of_few(relation, asked, tenant_id=tenant_id),
        count_of(relation, asked.clauses, tenant_id=tenant_id),
        bounded_count_of(relation, asked.clauses, tenant_id=tenant_id, most=FEW + 1),
    )


def _relation(kind: Kind[Any], query: Query) -> Relation:
    """Every field but the key of the query, which is the last of its order, may be missing."""
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
