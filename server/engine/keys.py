"""Keys: positive 64-bit integers with the partition in the upper bits and a counter below."""

from typing import NewType

Key = NewType("Key", int)

COUNTER_BITS = 51


def first_key(partition_id: int) -> Key:
    """The key before the first one that the partition assigns; partitions count from 1."""
    return Key(partition_id << COUNTER_BITS)


def partition_of(key: Key) -> int:
    return key >> COUNTER_BITS
