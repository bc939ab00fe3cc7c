"""Pages of a stored document: a small document is one row, a large one a row for each few of its records.

StoredPage 0 has what a document has once, and all records of a small one. The records of a large one, that which has the
key of the document excepted, are on the pages that follow from their keys: a commit writes the pages of the records
that changed. The division is part of the format of documents.
"""

from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple, cast

import msgspec

from server.engine.keys import Key

HEAD_PAGE = 0
# Documents in it are one page, and stored where programs without pages find them.
FIRST_FORMAT = 1
PAGE_KEYS = 16


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
    """Names a document within its partition."""

    kind: Kind
    key: Key


class StoredPage(msgspec.Struct, frozen=True, gc=False):
    """The packed content of a page, and the number of the format in which it is packed."""

    format: int
    content: bytes


def page_of(document_key: Key, record_key: Key) -> int:
    """The page of a record of a large document; a record has a higher key than its document."""
    return HEAD_PAGE if record_key == document_key else 1 + (record_key - document_key) // PAGE_KEYS


def keys_of(document_key: Key, page: int) -> Sequence[Key]:
    """The keys of all records that can be on a page of a large document."""
    if page == HEAD_PAGE:
        return (document_key,)
    first = document_key + (page - 1) * PAGE_KEYS
    return cast("Sequence[Key]", range(max(first, document_key + 1), first + PAGE_KEYS))
