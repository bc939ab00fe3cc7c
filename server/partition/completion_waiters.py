"""Callers that wait for a process instance to end."""

import asyncio
from collections.abc import Sequence
from itertools import chain

from server.engine import events
from server.engine.keys import Key
from server.partition.config import InstancesConfig
from server.partition.partition import Partition
from server.platform.errors import DeadlineExceeded, InvalidState, NotFound, ResourceExhausted, Unavailable
from server.store.entities import ProcessInstance, ProcessInstanceState
from server.store.ports import Store


class CompletionWaiters:
    def __init__(self, partition: Partition, store: Store, config: InstancesConfig) -> None:
        self._partition = partition
        self._store = store
        self._config = config
        self._waiting: dict[Key, set[asyncio.Future[None]]] = {}
        self._count = 0
        partition.observers.append(self._observe)
        partition.endings.append(self._refuse)

    async def completed(self, key: Key, tenant_id: str, seconds: float) -> None:
        """Return when the instance has completed; raises when it was cancelled, or is still running by then."""
        try:
            async with asyncio.timeout(seconds):
                state = await self._end(key, tenant_id)
        except TimeoutError:
            raise DeadlineExceeded(
                f"process instance {key} did not end within {seconds:g} s; it goes on"
            ) from None
        if state is not ProcessInstanceState.COMPLETED:
            raise InvalidState(f"process instance {key} is {state}, not COMPLETED")

    async def _end(self, key: Key, tenant_id: str) -> ProcessInstanceState:
        if self._count >= self._config.max_awaiting:
            raise ResourceExhausted(f"{self._config.max_awaiting} callers await a completion already")
        ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(key, set()).add(ended)
        self._count += 1
        try:
            state = await self._state(key, tenant_id)
            if state is ProcessInstanceState.ACTIVE:
                if self._partition.is_draining:
                    raise Unavailable("the partition is about to stop; the process instance goes on")
                await ended
                state = await self._state(key, tenant_id)
            return state
        finally:
            self._forget(key, ended)

    async def _state(self, key: Key, tenant_id: str) -> ProcessInstanceState:
        row = await self._store.get(ProcessInstance, key, tenant_id=tenant_id)
        if row is None:
            raise NotFound(f"no process instance with key {key}")
        return row.state

    def _forget(self, key: Key, ended: asyncio.Future[None]) -> None:
        self._count -= 1
        waiting = self._waiting[key]
        waiting.remove(ended)
        if not waiting:
            del self._waiting[key]

    def _observe(self, happened: Sequence[events.Event]) -> None:
        if not self._waiting:
            return
        for event in happened:
            if isinstance(event, events.ElementCompleted | events.ElementTerminated):
                for ended in self._waiting.get(event.key, ()):
                    if not ended.done():
                        ended.set_result(None)

    def _refuse(self) -> None:
        for ended in chain.from_iterable(self._waiting.values()):
            if not ended.done():
                ended.set_exception(Unavailable("the partition stopped serving"))
