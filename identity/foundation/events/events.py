"""Stores security events and notifies listeners."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Protocol

from identity.foundation.events.event import (
    EVENTS,
    ID_LENGTH,
    KEPT_FOR,
    Event,
    EventActor,
    milliseconds_of,
    position_at,
)
from identity.foundation.events.kinds import EventType, Level
from identity.foundation.randomness import Randomness
from server.platform.call import TenantId
from server.platform.clock import Clock
from server.platform.errors import Unavailable
from server.platform.records import RecordStore

logger = logging.getLogger(__name__)


class Actor(Protocol):
    """A caller of the administration API."""

    @property
    def kind(self) -> str: ...

    @property
    def id(self) -> str: ...

    @property
    def name(self) -> str: ...


class Listener(Protocol):
    async def hear(self, event: Event) -> None:
        """Raises Unavailable, and nothing else."""
        ...


class Events:
    def __init__(
        self, store: RecordStore, levels: Mapping[EventType, Level], *, clock: Clock, randomness: Randomness
    ) -> None:
        self._records = store.of(EVENTS)
        self._levels = levels
        self._clock = clock
        self._randomness = randomness
        self._listeners: list[Listener] = []

    def listen(self, listener: Listener) -> None:
        """Register a listener for every stored event."""
        self._listeners.append(listener)

    async def emit(
        self,
        tenant_id: TenantId,
        event_type: EventType,
        *,
        level: Level | None = None,
        ip: str | None = None,
        data: int | None = None,
        text: str | None = None,
        user_id: str | None = None,
        client_id: str | None = None,
        session: str | None = None,
        actor: Actor | None = None,
    ) -> None:
        """Store an event, at the level of its type unless `level` is given, and notify listeners.

        The reported change has already happened, so a failure to store or deliver the event is only logged.
        """
        event = replace(
            self._event(tenant_id, event_type, level, actor),
            ip=ip,
            data=data,
            text=text,
            user_id=user_id,
            client_id=client_id,
            session=session,
        )
        await self._keep(event_type, tenant_id, [event])

    async def emit_all(
        self,
        tenant_id: TenantId,
        event_type: EventType,
        about: Sequence[tuple[str, str]],
        *,
        ip: str | None = None,
        actor: Actor | None = None,
    ) -> None:
        """Store an event for each user, with the id and the text from `about`, and notify listeners, as `emit` does."""
        event = replace(self._event(tenant_id, event_type, None, actor), ip=ip)
        events = [
            replace(event, id=self._id(event.at), user_id=user_id, text=text) for user_id, text in about
        ]
        await self._keep(event_type, tenant_id, events)

    def _event(
        self, tenant_id: TenantId, event_type: EventType, level: Level | None, actor: Actor | None
    ) -> Event:
        now = self._clock.now()
        return Event(
            tenant_id=tenant_id,
            id=self._id(now),
            expires_at=now + KEPT_FOR,
            at=now,
            type=event_type,
            level=level or self._levels[event_type],
            actor=None if actor is None else EventActor(actor.kind, actor.id, actor.name),
        )

    def _id(self, at: datetime) -> str:
        return f"{position_at(milliseconds_of(at))}{self._randomness.alphanumeric(ID_LENGTH)}"

    async def _keep(self, event_type: EventType, tenant_id: TenantId, events: Sequence[Event]) -> None:
        try:
            for kept in await self._inserted(events):
                for listener in self._listeners:
                    await listener.hear(kept)
        except Unavailable:
            logger.warning(
                "a security event was not stored or not delivered",
                extra={"event_type": event_type, "tenant_id": tenant_id},
            )

    async def _inserted(self, events: Sequence[Event]) -> Sequence[Event]:
        return (
            [await self._records.insert(events[0])]
            if len(events) == 1
            else await self._records.insert_all(events)
        )
