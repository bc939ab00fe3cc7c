"""Splits waiting calls or answers into messages within the peer's size limit."""

from collections.abc import Iterable, Iterator
from typing import TypeVar

from google.protobuf.message import Message

Item = TypeVar("Item", bound=Message)

# Overhead of an item in a repeated field of a message below 256 MiB: the tag and the length.
ENVELOPE_BYTES = 5
# Large enough to amortize gRPC's cost, small enough that the peer works on one batch while the next is
# written.
MOST_ITEMS = 32


def batches(items: Iterable[Item], max_bytes: int) -> Iterator[list[Item]]:
    """Yield batches in order; an item that alone exceeds the limit is its own batch."""
    batch: list[Item] = []
    size = 0
    for item in items:
        length = item.ByteSize() + ENVELOPE_BYTES
        if batch and (size + length > max_bytes or len(batch) == MOST_ITEMS):
            yield batch
            batch, size = [], 0
        batch.append(item)
        size += length
    if batch:
        yield batch
