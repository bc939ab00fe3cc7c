"""One turn of a partition: commands run through the engine, and everything that came of them for one commit."""

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import msgspec

from server.engine import State, process
from server.engine.answers import DONE, Answer
from server.engine.commands import AdoptDefinition, Command
from server.engine.decision_events import DecisionRequirementsDeployed
from server.engine.documents import pack
from server.engine.events import Event, InstanceEvent, InstanceHead, ProcessDefinitionDeployed
from server.engine.keys import Key
from server.engine.rejection import Rejected, RejectionType
from server.engine.state import NotLoaded
from server.partition.audit import audit_entry
from server.partition.origin import Origin
from server.partition.quota import Quota
from server.partition.wire import ANSWERS, COMMANDS
from server.platform.errors import Internal, InvalidArgument, InvalidState, NotFound, ServiceError
from server.store.entities import AuditEntry
from server.store.ports import (
    EVERY_OTHER_PARTITION,
    Batch,
    IncomingCommand,
    OutgoingCommand,
    StoredAnswer,
)
from server.store.projection import project

logger = logging.getLogger(__name__)

Result = Answer | ServiceError


@dataclass(slots=True, eq=False)
class Entry:
    """A command that waits, with the future of its answer; no command stands for a barrier.

    `incoming` is what another partition sent, `origin` says who asked; both are None for what time brings. `noted` are
    entries of the audit log that come without a command.
    """

    command: Command | None
    future: asyncio.Future[Answer] | None = None
    origin: Origin | None = None
    incoming: IncomingCommand | None = None
    noted: Sequence[AuditEntry] = ()

    @property
    def tenant_id(self) -> str:
        return self.origin.tenant_id if self.origin else ""

    @property
    def is_wanted(self) -> bool:
        """Whether anybody still waits for it, or nobody ever did."""
        return self.future is None or not self.future.done()


@dataclass(slots=True, eq=False)
class Turn:
    """Grows until it is sealed; `touched` are the process instances that it changed, in the order of their first change."""

    entries: list[Entry] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    touched: dict[Key, None] = field(default_factory=dict)
    batch: Batch = field(default_factory=Batch)
    results: list[tuple[Entry, Result]] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Growth:
    """What new entries brought to a turn; `postponed` are those that need process instances that are `missing` here."""

    events: list[Event] = field(default_factory=list)
    touched: dict[Key, None] = field(default_factory=dict)
    postponed: list[Entry] = field(default_factory=list)
    missing: set[Key] = field(default_factory=set)


class Turns:
    """Runs the engine over the entries of one turn after the other."""

    def __init__(self, state: State, quota: Quota) -> None:
        self._state = state
        self._quota = quota

    def grow(self, turn: Turn, entries: Iterable[Entry], *, now: datetime) -> Growth:
        """Run these as well; those that were postponed are no part of the turn."""
        growth = Growth()
        for entry in entries:
            before = len(growth.events)
            try:
                result = self._result(entry, turn, growth, now)
            except NotLoaded as absent:
                growth.missing |= absent.keys
                growth.postponed.append(entry)
                continue
            turn.entries.append(entry)
            turn.results.append((entry, result))
            _keep(entry, result, turn.batch, now, changed=_changed(growth.events, before))
        turn.events += growth.events
        growth.touched = dict.fromkeys(
            event.instance.key for event in growth.events if isinstance(event, InstanceEvent)
        )
        turn.touched |= growth.touched
        return growth

    def seal(self, turn: Turn) -> None:
        """Pack what the turn leaves behind, before the next one changes it."""
        batch = turn.batch
        batch.last_key = self._state.last_key
        for key in turn.touched:
            instance = self._state.instances.get(key)
            batch.documents[key] = pack(instance) if instance is not None else None
        for event in turn.events:
            effect = _EFFECTS.get(type(event))
            if effect is not None:
                effect(event, batch)

    def _result(self, entry: Entry, turn: Turn, growth: Growth, now: datetime) -> Result:
        if entry.command is None:
            return DONE
        try:
            self._quota.check(entry.command)
            outcome = process(self._state, entry.command, now)
        except NotLoaded:
            raise
        except ServiceError as refusal:
            return refusal
        except Rejected as rejected:
            return _REFUSALS[rejected.type](rejected.reason)
        except Exception:
            logger.exception("command failed", extra={"command": type(entry.command).__name__})
            return Internal()
        for event in outcome.events:
            project(event, now, turn.batch.changes)
        growth.events += outcome.events
        self._quota.observe(outcome.events, turn.batch.active_instances)
        return outcome.answer


def _changed(happened: Sequence[Event], first: int) -> InstanceHead | None:
    """The process instance that the events from there on are about."""
    for place in range(first, len(happened)):
        event = happened[place]
        if isinstance(event, InstanceEvent):
            return event.instance
    return None


def _keep(entry: Entry, result: Result, batch: Batch, now: datetime, *, changed: InstanceHead | None) -> None:
    """What the store keeps of a command beside its effects."""
    batch.audit += entry.noted
    is_fault = isinstance(result, Internal)
    if entry.incoming is not None and not is_fault:
        batch.taken.append(entry.incoming)
    origin = entry.origin
    if origin is None or entry.command is None:
        return
    audited = audit_entry(entry.command, origin, result, now, changed=changed)
    if audited is not None:
        batch.audit.append(audited)
    key = origin.idempotency
    if key is not None and not isinstance(result, ServiceError):
        packed = ANSWERS.pack(result)
        batch.answers.append(StoredAnswer(key.tenant_id, key.key, key.request_hash, packed, now))


Deployed = ProcessDefinitionDeployed | DecisionRequirementsDeployed


def _definition_deployed(event: Deployed, batch: Batch) -> None:
    batch.definitions[event.key] = _encode(event)
    batch.outgoing.append(OutgoingCommand(EVERY_OTHER_PARTITION, COMMANDS.pack(AdoptDefinition(event))))


def definition_of(content: bytes) -> Deployed:
    """Read what `Batch.definitions` holds."""
    return _decode(content)


_encode = msgspec.msgpack.Encoder().encode
_decode: Callable[[bytes], Deployed] = msgspec.msgpack.Decoder(Deployed).decode

# What an event brings about beyond rows and documents.
_EFFECTS: Mapping[type[Event], Callable[..., None]] = {
    ProcessDefinitionDeployed: _definition_deployed,
    DecisionRequirementsDeployed: _definition_deployed,
}

_REFUSALS: Mapping[RejectionType, type[ServiceError]] = {
    RejectionType.INVALID_ARGUMENT: InvalidArgument,
    RejectionType.NOT_FOUND: NotFound,
    RejectionType.INVALID_STATE: InvalidState,
}
