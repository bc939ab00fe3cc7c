"""Searches: filter, sort and page become one `Query`, which is evaluated in memory or compiled to SQL.

A query is pure data, so each store can interpret it. Order and cursors mean the same in all stores: texts
compare by code point, missing values come last, and the entity's key makes every order total.
"""

from server.platform.query.clauses import AnyOf, Clause, Clauses, Related
from server.platform.query.conditions import Condition, Operator
from server.platform.query.evaluate import evaluate, matching
from server.platform.query.fields import Field, FieldType, Scalar
from server.platform.query.filters import operators
from server.platform.query.grouped import grouped
from server.platform.query.model import EVERYTHING, Page, Query, SortKey, Window
from server.platform.query.ordered import Ordered
from server.platform.query.parse import parse, parse_page, parse_selection
from server.platform.query.readings import (
    contains_every,
    contains_none,
    has_related,
    longer_than,
    only_if_true,
)
from server.platform.query.searchable import Association, Searchable, equals
from server.platform.query.statistics import (
    MOST_GROUPS,
    Count,
    Different,
    Interval,
    Latest,
    Statistic,
)

__all__ = [
    "EVERYTHING",
    "MOST_GROUPS",
    "AnyOf",
    "Association",
    "Clause",
    "Clauses",
    "Condition",
    "Count",
    "Different",
    "Field",
    "FieldType",
    "Interval",
    "Latest",
    "Operator",
    "Ordered",
    "Page",
    "Query",
    "Related",
    "Scalar",
    "Searchable",
    "SortKey",
    "Statistic",
    "Window",
    "contains_every",
    "contains_none",
    "equals",
    "evaluate",
    "grouped",
    "has_related",
    "longer_than",
    "matching",
    "only_if_true",
    "operators",
    "parse",
    "parse_page",
    "parse_selection",
]
