"""Cuts the calls or answers that wait into messages that a peer accepts."""

from collections.abc import Iterable, Iterator
from typing import TypeVar

from google.protobuf.message import Message

Item = TypeVar("Item", bound=Message)

# Around an item in a repeated field of a message below 256 MiB: the field's tag and the item's length.
ENVELOPE_BYTES = 5
# Enough to make gRPC's own cost small, few enough that a peer works on one batch while the next is being written.
MOST_ITEMS = 32


def batches(items: Iterable[Item], max_bytes: int) -> Iterator[list[Item]]:
    """In order; an item that exceeds the limit alone is a batch of its own."""
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
