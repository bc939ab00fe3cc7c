"""Lookups that several callers share: the second one of a key waits for the result of the first."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

from server.platform.errors import ServiceError

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class _Lookup(Generic[Value]):
    def __init__(self) -> None:
        self.is_over = asyncio.Event()
        self.found: list[Value] = []
        self.error: ServiceError | None = None


class SharedLookups(Generic[Key, Value]):
    """A refusal is shared too. When the caller that looks is cancelled, one of the others looks again."""

    def __init__(self) -> None:
        self._running: dict[Key, _Lookup[Value]] = {}

    def __contains__(self, key: Key) -> bool:
        return key in self._running

    async def of(self, key: Key, look: Callable[[Key], Awaitable[Value]]) -> Value:
        """Return what `look` finds, once for all that ask meanwhile; raises its ServiceError."""
        while (running := self._running.get(key)) is not None:
            await running.is_over.wait()
            if running.error is not None:
                raise running.error
            if running.found:
                return running.found[0]
        return await self._look(key, look)

    async def _look(self, key: Key, look: Callable[[Key], Awaitable[Value]]) -> Value:
        lookup = self._running[key] = _Lookup()
        try:
            found = await look(key)
            lookup.found.append(found)
        except ServiceError as error:
            lookup.error = error
            raise
        finally:
            del self._running[key]
            lookup.is_over.set()
        return found
