"""Pages of a stored document: a small document is one row, a large one has a row for a few of its records.

Page 0 has the data of the document itself, and all records of a small one. In a large document, each other
record has a page that follows from its key, and a commit writes only the pages with changed records. A large
value of any document has a page of its own, which follows from the key of its record, too; it is written when
the value changes. The division is part of the format of documents, the size of a large value is not.
"""

from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple, cast

import msgspec

from server.engine.keys import Key

HEAD_PAGE = 0
# Documents in this format have one page, and are stored where versions without pages find them.
FIRST_FORMAT = 1
# Pages of several records, and pages of one large value.
RECORDS_FORMAT = 2
VALUE_FORMAT = 3
PAGE_KEYS = 16
# Pages of large values have numbers from this one on, above those of all other pages.
FIRST_VALUE_PAGE = 1 << 62
# A page of more than 2 KB costs PostgreSQL 25 microseconds per further KB, a further page 20 microseconds.
LARGE_OCTETS = 1_024


class Kind(IntEnum):
    """Kinds of documents; their numbers are stored."""

    PROCESS_INSTANCE = 1
    MESSAGE = 2
    MESSAGE_SUBSCRIPTION = 3
    BROADCAST = 4
    START_TIMER = 5
    BATCH_OPERATION = 6
    BATCH_PAGE = 7


class DocumentId(NamedTuple):
    """The kind and key of a document, unique within its partition."""

    kind: Kind
    key: Key


class StoredPage(msgspec.Struct, frozen=True, gc=False):
    """The packed content of a page, and its format number."""

    format: int
    content: bytes


def page_of(document_key: Key, record_key: Key) -> int:
    """The page of a record of a large document; records have higher keys than their document."""
    return HEAD_PAGE if record_key == document_key else 1 + (record_key - document_key) // PAGE_KEYS


def value_page_of(document_key: Key, record_key: Key) -> int:
    """The page of a large value by the key of its record."""
    return FIRST_VALUE_PAGE + record_key - document_key


def is_large(text: str) -> bool:
    """Whether a value has a page of its own; its size is counted only if it may be below the limit."""
    return len(text) > LARGE_OCTETS or not (text.isascii() or len(text.encode()) <= LARGE_OCTETS)


def keys_of(document_key: Key, page: int) -> Sequence[Key]:
    """All keys that belong to a page of a large document."""
    if page == HEAD_PAGE:
        return (document_key,)
    first = document_key + (page - 1) * PAGE_KEYS
    return cast("Sequence[Key]", range(max(first, document_key + 1), first + PAGE_KEYS))
