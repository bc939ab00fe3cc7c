"""Callers that wait for a process instance to end."""

import asyncio
from collections.abc import Sequence
from itertools import chain

from server.engine import events
from server.engine.keys import Key
from server.engine.tenant_events import TenantPurged
from server.partition.config import InstancesConfig
from server.partition.lifecycle import Operation
from server.partition.partition import Partition
from server.partition.places import Places
from server.platform.errors import DeadlineExceeded, InvalidState, NotFound, Unavailable
from server.store.entities import ProcessInstance, ProcessInstanceState
from server.store.ports import Store


class CompletionWaiters:
    def __init__(self, partition: Partition, store: Store, config: InstancesConfig) -> None:
        self._partition = partition
        self._store = store
        self._places = Places(config.max_awaiting, config.max_tenant_awaiting, "calls for a completion")
        self._waiting: dict[Key, set[asyncio.Future[None]]] = {}
        partition.observers.append(self._observe)
        partition.endings.append(self._refuse)

    @property
    def waiting(self) -> int:
        """The number of waiting callers."""
        return self._places.taken

    async def completed(self, key: Key, tenant_id: str, seconds: float) -> None:
        """Return when the process instance has completed.

        Raises InvalidState when it was terminated, and DeadlineExceeded when it still runs after `seconds`.
        """
        try:
            async with asyncio.timeout(seconds):
                state = await self._end(key, tenant_id)
        except TimeoutError:
            raise DeadlineExceeded(
                f"process instance {key} did not end within {seconds:g} s; it continues"
            ) from None
        if state is not ProcessInstanceState.COMPLETED:
            raise InvalidState(f"process instance {key} is {state}, not COMPLETED")

    async def _end(self, key: Key, tenant_id: str) -> ProcessInstanceState:
        with self._places.one(tenant_id):
            return await self._awaited(key, tenant_id)

    async def _awaited(self, key: Key, tenant_id: str) -> ProcessInstanceState:
        ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(key, set()).add(ended)
        try:
            state = await self._state(key, tenant_id)
            if state is ProcessInstanceState.ACTIVE:
                if not self._partition.lifecycle.allows(Operation.WAIT):
                    raise Unavailable(
                        "the partition accepts no waiting calls; the process instance continues"
                    )
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
        waiting = self._waiting[key]
        waiting.remove(ended)
        if not waiting:
            del self._waiting[key]

    def _observe(self, happened: Sequence[events.Event]) -> None:
        if not self._waiting:
            return
        for event in happened:
            if isinstance(event, events.ElementCompleted | events.ElementTerminated):
                for ended in self._still_waiting(event.key):
                    ended.set_result(None)
            elif isinstance(event, TenantPurged):
                for ended in chain.from_iterable(map(self._still_waiting, event.process_instances)):
                    ended.set_exception(NotFound("the process instance was removed with its tenant"))

    def _still_waiting(self, key: Key) -> list[asyncio.Future[None]]:
        return [ended for ended in self._waiting.get(key, ()) if not ended.done()]

    def _refuse(self) -> None:
        for ended in chain.from_iterable(self._waiting.values()):
            if not ended.done():
                ended.set_exception(Unavailable("the partition stopped serving"))
