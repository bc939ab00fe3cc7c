"""Compiles queries to PostgreSQL's SQL, with the same semantics as `evaluate` in memory.

Values are passed as arguments, so that searches of the same form share one statement text. Texts compare by
their column's collation: by code point, because every text column is COLLATE "C". Stored rows have U+FFFD in
place of characters that PostgreSQL refuses, and searches replace them in the same way.
"""

from server.platform.query.sql.groups import groups_of, groups_within
from server.platform.query.sql.relation import INDEXED_CHARACTERS, Relation, guard_of, owned_by, quoted
from server.platform.query.sql.statements import (
    TOTAL,
    Statement,
    bounded_count_of,
    bounded_page_of,
    count_of,
    counted_page_of,
    page_of,
    page_of_few,
    page_of_first,
)

__all__ = [
    "INDEXED_CHARACTERS",
    "TOTAL",
    "Relation",
    "Statement",
    "bounded_count_of",
    "bounded_page_of",
    "count_of",
    "counted_page_of",
    "groups_of",
    "groups_within",
    "guard_of",
    "owned_by",
    "page_of",
    "page_of_few",
    "page_of_first",
    "quoted",
]
