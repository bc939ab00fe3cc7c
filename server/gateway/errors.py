"""Errors as Zeebe's clients expect them: the contract's status codes, with one exception.

A full queue is UNAVAILABLE in the contract. Zeebe's clients expect RESOURCE_EXHAUSTED as back pressure and
slow down; after too many UNAVAILABLE errors some close their connection.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from server.platform.errors import PROBLEMS, ResourceExhausted


class BackPressure(ResourceExhausted):
    @property
    def code(self) -> int:
        return PROBLEMS["QUOTA_EXHAUSTED"].code


@contextmanager
def translated() -> Iterator[None]:
    """Translate errors raised in the block to Zeebe's status codes."""
    try:
        yield
    except ResourceExhausted as refusal:
        raise BackPressure(refusal.detail, **refusal.metadata) from refusal
