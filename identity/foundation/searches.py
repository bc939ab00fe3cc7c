"""Pages of the records of a tenant, and searches of administrators for them, using only indexes.

A page begins where the previous one ended, so that a list has each record once while others are added and removed. The
database derives the words of a record in the same way: migrations 0051 and 0068.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_lowercase, ascii_uppercase
from typing import TypeVar

from identity.foundation.continuation import MOST_OF_A_PAGE, id_of, page_of
from server.platform.call import TenantId
from server.platform.errors import InvalidArgument
from server.platform.query import Clause, Condition, Field, FieldType, Operator, Query, SortKey, Window
from server.platform.query.cursor import cursors, position_of
from server.platform.records import Record, Records

MOST_WORDS = 8

_BETWEEN_WORDS = re.compile(r"[ @.+_'-]+")
_WORD_CHARACTERS = 64
_LOWER_CASE = str.maketrans(ascii_uppercase, ascii_lowercase)

_ID = Field("id", FieldType.TEXT)
_NAME = Field("name", FieldType.TEXT)
_WORDS = Field("words", FieldType.TEXTS)

R = TypeVar("R", bound=Record)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordSearch:
    """Each word of `text` begins one of the record's words; `sort` is `id`, empty for the same, or `name`."""

    text: str = ""
    sort: str = ""
    is_descending: bool = False


async def listed(
    records: Records[R],
    tenant_id: TenantId,
    search: RecordSearch,
    *also: Clause,
    page_size: int,
    continuation_token: str,
) -> tuple[Sequence[R], str]:
    """Return a page of the records found, and the continuation token of the next page, empty for none.

    A size of 0 is that of the largest page. Raises InvalidArgument.
    """
    most = page_size or MOST_OF_A_PAGE
    if search == RecordSearch() and not also:
        found = await records.page(tenant_id, after=id_of(continuation_token), most=most + 1)
        return page_of(found, most, lambda record: record.id)
    clauses = (*begun(search.text), *also)
    sort = (SortKey(_NAME if search.sort == "name" else _ID, search.is_descending),)
    after = position_of(continuation_token, clauses, sort) if continuation_token else None
    # One more than shown, to know whether there is a next page.
    query = Query(clauses, sort, Window(limit=most + 1, after=after))
    found = await records.matches(tenant_id, query)
    shown = found[:most]
    _, end = cursors(query, shown)
    return shown, end if end is not None and len(found) > most else ""


def begun(text: str) -> Sequence[Condition]:
    """Return the conditions that each word of a text begins a word of the record; raises InvalidArgument."""
    words = text.split()
    if len(words) > MOST_WORDS:
        raise InvalidArgument(f"search: expected at most {MOST_WORDS} words, found {len(words)}")
    return [Condition(_WORDS, Operator.BEGINS, word_of(word)) for word in words]


def words_of(*texts: str) -> frozenset[str]:
    """Return the texts, whole and in parts, in the form for searches."""
    parts = (part for text in texts for part in _BETWEEN_WORDS.split(text))
    return frozenset(filter(None, map(word_of, (*texts, *parts))))


def word_of(text: str) -> str:
    """Return a text in the form for searches: its first 64 characters, with ASCII letters in lower case."""
    return ascii_lower(text)[:_WORD_CHARACTERS]


def ascii_lower(text: str) -> str:
    """Return the text with ASCII letters in lower case: the database folds the same letters in any locale."""
    return text.translate(_LOWER_CASE)
