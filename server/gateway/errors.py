"""Refusals as Zeebe's clients expect them: the contract's status codes, but one.

A full queue is UNAVAILABLE in the contract. Zeebe's clients know it as back pressure, RESOURCE_EXHAUSTED: they slow down,
and some close their connection after too many UNAVAILABLE.
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
    """Raise the refusals of the block with the status codes of Zeebe."""
    try:
        yield
    except ResourceExhausted as refusal:
        raise BackPressure(refusal.detail, **refusal.metadata) from refusal
