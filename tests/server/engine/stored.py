"""Process instances as a store holds them."""

from copy import deepcopy

from server.engine.documents import Pages, pack
from server.engine.keys import Key
from server.engine.pages import DocumentId, Kind
from server.engine.process_instance import ProcessInstance


def id_of(key: Key) -> DocumentId:
    return DocumentId(Kind.PROCESS_INSTANCE, key)


def pages_of(instance: ProcessInstance, most: int = 1_000_000) -> Pages:
    """All pages, where a document of at most so many records is one; the process instance stays as it is."""
    copy = deepcopy(instance)
    copy.places, copy.is_apart = None, False
    return {number: page for number, page in pack(copy, set(), most).items() if page is not None}
