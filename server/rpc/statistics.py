"""Statistics over the rows of the caller's tenant, as messages."""

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from operator import attrgetter
from typing import TypeVar

from google.protobuf.message import Message

from gnomon.engine.v1 import element_instance_pb2
from server.platform.call import Call
from server.platform.mapping import mapper
from server.platform.query import Clauses, Page, Searchable, SortKey, evaluate, parse_page
from server.store.ports import Store
from server.store.statistics import ELEMENTS, ElementStatistics

S = TypeVar("S")

_INT64_BYTES = 8

_element = mapper(ElementStatistics, element_instance_pb2.ProcessElementStatistics)


async def element_statistics(store: Store, clauses: Clauses, call: Call) -> Sequence[ElementStatistics]:
    """The statistics of each element with a matching instance, in the order of element ids."""
    found = await store.statistics(ELEMENTS, clauses, tenant_id=call.tenant_id)
    return sorted(found, key=lambda element: element.element_id)


async def counted_elements(
    store: Store, clauses: Clauses, call: Call
) -> Sequence[element_instance_pb2.ProcessElementStatistics]:
    """The statistics of elements as messages."""
    return [_element(each) for each in await element_statistics(store, clauses, call)]


def page_of(
    searchable: Searchable[S], rows: Iterable[S], request: Message, *, default: Sequence[SortKey] = ()
) -> Page[S]:
    """The requested page of all groups; `default` is the order if the request has none. Raises InvalidArgument."""
    query = parse_page(searchable, request, default=default)
    return evaluate(sorted(rows, key=attrgetter(searchable.key.name)), query)


def place_of(*texts: str | None) -> int:
    """A number that represents texts of any length in a cursor."""
    digest = blake2b(repr(texts).encode(), digest_size=_INT64_BYTES).digest()
    return int.from_bytes(digest, "big") >> 1
