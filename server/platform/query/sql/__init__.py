"""Queries as SQL of PostgreSQL, with the meaning that `evaluate` gives them in memory.

Values travel as arguments, so that searches of one shape share one text. Texts compare as their columns are collated:
by code point, where every text column is COLLATE "C". Characters that PostgreSQL refuses are U+FFFD in its rows,
and searches replace them in the same way.
"""

from server.platform.query.sql.groups import groups_of, groups_within
from server.platform.query.sql.relation import INDEXED_CHARACTERS, Relation, guard_of, owned_by, quoted
from server.platform.query.sql.statements import Statement, bounded_count_of, count_of, page_of, page_of_few

__all__ = [
    "INDEXED_CHARACTERS",
    "Relation",
    "Statement",
    "bounded_count_of",
    "count_of",
    "groups_of",
    "groups_within",
    "guard_of",
    "owned_by",
    "page_of",
    "page_of_few",
    "quoted",
]
