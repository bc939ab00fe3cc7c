"""An in-memory engine that can be replaced by an empty one without its callers noticing."""

import asyncio
from collections.abc import Callable
from typing import Any

from google.protobuf.descriptor import ServiceDescriptor

from server.app import MemoryEngine, Servicers
from server.erasures import ProcessErasure
from server.partition.removal_watch import Removals
from server.platform.clock import VirtualClock
from server.platform.dispatch import Refused
from server.platform.records import AuditLog
from server.store.ports import Store


class RenewableEngine:
    """A replaceable engine; `create` returns an empty engine, for the start and for each renewal.

    Calls that wait in the replaced engine end as if it stopped.
    """

    audit: AuditLog | None = None

    def __init__(self, create: Callable[[], MemoryEngine]) -> None:
        self._create = create
        self._engine = create()
        self._renewal = asyncio.Lock()
        self.servicers: Servicers = {
            service: None if servicer is None else _Current(self, service)
            for service, servicer in self._engine.servicers.items()
        }

    @property
    def clock(self) -> VirtualClock:
        return self._engine.clock

    @property
    def removals(self) -> Removals:
        return self._engine.removals

    @property
    def store(self) -> Store:
        return self._engine.store

    @property
    def erasure(self) -> ProcessErasure:
        return self._engine.erasure

    @property
    def refused(self) -> Refused:
        return self._engine.refused

    def servicer(self, service: ServiceDescriptor) -> object | None:
        """Return the servicer of the current engine."""
        return self._engine.servicers[service]

    async def renew(self) -> None:
        """Replace the engine by an empty one, whose keys start anew; return when it accepts commands."""
        async with self._renewal:
            former, self._engine = self._engine, self._create()
            former.drain()
            former.stop()
            await self._engine.ready()

    async def run(self) -> None:
        """Run each engine in turn, until the last one is stopped."""
        engine = None
        while engine is not self._engine:
            engine = self._engine
            await engine.run()

    async def ready(self) -> None:
        await self._engine.ready()

    def drain(self) -> None:
        self._engine.drain()

    def stop(self) -> None:
        self._engine.stop()


class _Current:
    """A service whose calls go to the engine that is current at the time of the call."""

    def __init__(self, engine: RenewableEngine, service: ServiceDescriptor) -> None:
        self._engine = engine
        self._service = service

    def __getattr__(self, name: str) -> Callable[..., Any]:
        async def call(*arguments: Any, **named: Any) -> Any:
            return await getattr(self._engine.servicer(self._service), name)(*arguments, **named)

        return call
