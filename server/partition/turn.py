"""One turn of a partition: commands run through the engine, and their effects for one commit."""

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

import msgspec

from server.engine import State, process
from server.engine.answers import DONE, Answer, TransitionBegun
from server.engine.cluster_variable_events import ClusterVariableDeleted, ClusterVariableSet
from server.engine.commands import Command
from server.engine.decision_events import DecisionRequirementsDeleted, DecisionRequirementsDeployed
from server.engine.deployment_commands import AdoptDefinition
from server.engine.documents import changed_pages
from server.engine.events import (
    Event,
    InstanceEvent,
    ProcessDefinitionDeleted,
    ProcessDefinitionDeployed,
)
from server.engine.form_events import FormDeleted, FormDeployed
from server.engine.formats import ClusterFormat
from server.engine.generic_resource_events import GenericResourceDeleted, GenericResourceDeployed
from server.engine.global_task_listener_events import GlobalTaskListenerDeleted, GlobalTaskListenerSet
from server.engine.keys import Key
from server.engine.pages import DocumentId
from server.engine.process_instance_commands import ContinueProcessInstance
from server.engine.rejection import Rejected, RejectionType
from server.engine.sent import CommandSent
from server.engine.state import NotLoaded
from server.engine.tenant_events import TenantMarked, TenantPurged, TenantReleased
from server.partition.audit import NOTHING, Concerned, audit_entry
from server.partition.batch_audit import (
    batch_item_entries,
    note_batch_operation,
    processes_batch_items,
)
from server.partition.meter import Traced
from server.partition.octets import MANY_OCTETS, MOST_OCTETS, written_octets
from server.partition.origin import Origin, requester_of
from server.partition.quota import Quota
from server.partition.transition_waiters import final_answers
from server.partition.user_task_audit import changes_user_tasks, user_task_entries
from server.partition.wire import ANSWERS, COMMANDS
from server.platform.errors import (
    AlreadyExists,
    Internal,
    InvalidArgument,
    InvalidState,
    NotFound,
    QuotaExhausted,
    ResourceExhausted,
    ServiceError,
    Unavailable,
)
from server.platform.stopwatch import ThreadStopwatch
from server.store.entities import AuditEntry
from server.store.ports import (
    EVERY_OTHER_PARTITION,
    Batch,
    IncomingCommand,
    OutgoingCommand,
    PartitionId,
    StoredAnswer,
)
from server.store.projection import project

logger = logging.getLogger(__name__)

# A commit with more rows would delay the callers of small commands; a single command may exceed it.
MOST_ROWS = 2_048
# A command with this many rows takes the store as long as a hundred other commands.
MANY_ROWS = 512
# From this duration on a turn is slow, because others have waited as long.
SLOW_SECONDS = 1.0

Result = Answer | ServiceError


@dataclass(slots=True, eq=False)
class Entry:
    """A queued command with the future of its answer; an entry without a command is a barrier.

    `incoming` is set for a command of another partition, `origin` for a caller's; due commands have neither.
    `noted` are audit entries without a command. `missed` are the documents that were not loaded when the
    engine needed them. `octets` is the size of the command or of the noted entries.
    """

    command: Command | None
    future: asyncio.Future[Answer] | None = None
    origin: Origin | None = None
    incoming: IncomingCommand | None = None
    noted: Sequence[AuditEntry] = ()
    is_due: bool = False
    traced: Traced | None = None
    missed: frozenset[DocumentId] = frozenset()
    octets: int = 0

    @property
    def tenant_id(self) -> str:
        """The tenant whose turn serves the entry; empty for entries that concern all tenants."""
        if self.origin is not None:
            return self.origin.tenant_id
        if self.command is None or isinstance(self.command, AdoptDefinition):
            return ""
        return self.command.tenant_id

    @property
    def is_slice(self) -> bool:
        """Whether it continues the postponed work of a process instance."""
        return isinstance(self.command, ContinueProcessInstance)

    @property
    def is_wanted(self) -> bool:
        """Whether the caller still waits, or there is none."""
        return self.future is None or not self.future.done()

    @property
    def share(self) -> int:
        """The share of a batch that the entry takes, in commands."""
        return len(self.noted) or 1

    def refuse(self, reason: str) -> None:
        """Raise Unavailable for the caller if it still waits: the command did not happen, or its outcome is unknown."""
        self._fail(Unavailable(reason))

    def refuse_untouched(self, reason: str) -> None:
        """Raise Unavailable for the caller if it still waits: the command did not happen."""
        self._fail(Unavailable.untouched(reason))

    def _fail(self, refusal: Unavailable) -> None:
        if self.future is not None and not self.future.done():
            self.future.set_exception(refusal)


@dataclass(slots=True, eq=False)
class Turn:
    """A turn, which grows until it is sealed; `touched` are the keys of changed records by document.

    `octets` estimates the size of its commit. It `is_closed` when the next command has no room in it. `faults` is
    the number of steps that failed while the rest of their command took effect.
    `commit_began` and `commit_ended` are in nanoseconds since 1970, 0 without a commit.
    """

    events: list[Event] = field(default_factory=list)
    touched: dict[DocumentId, set[Key]] = field(default_factory=dict)
    batch: Batch = field(default_factory=Batch)
    results: list[tuple[Entry, Result]] = field(default_factory=list)
    share: int = 0
    octets: int = 0
    is_closed: bool = False
    faults: int = 0
    commit_began: int = 0
    commit_ended: int = 0

    @property
    def rows(self) -> int:
        return len(self.batch.changes) + len(self.batch.audit)

    @property
    def is_full(self) -> bool:
        return self.is_closed or self.rows >= MOST_ROWS or self.octets >= MOST_OCTETS

    def has_room_for(self, entry: Entry) -> bool:
        """Whether the entry may be added; the first entry that may not closes the turn."""
        if self.octets and self.octets + entry.octets > MOST_OCTETS:
            self.is_closed = True
        return not self.is_full


@dataclass(slots=True, eq=False)
class Growth:
    """The effects of new entries on a turn.

    `touched` are the documents that they changed. `postponed` are entries that need documents in `missing`,
    `left` entries that exceed the turn's rows, octets or time. `seconds` is the engine's time. `slow` is the
    entry that wrote too many rows or octets, or took the longest in a turn that took too long.
    """

    events: list[Event] = field(default_factory=list)
    touched: dict[DocumentId, None] = field(default_factory=dict)
    postponed: list[Entry] = field(default_factory=list)
    left: list[Entry] = field(default_factory=list)
    missing: set[DocumentId] = field(default_factory=set)
    seconds: float = 0.0
    slow: Entry | None = None


class Turns:
    """Runs the engine over the entries of one turn after the other, for `seconds` at a time.

    The stopwatch measures the working time of this thread, so a turn is not slow because others used the
    processor.
    """

    def __init__(
        self,
        state: State,
        quota: Quota,
        *,
        seconds: float = 0.05,
        stopwatch: Callable[[], float] | None = None,
    ) -> None:
        self._seconds = seconds
        self._stopwatch = stopwatch or ThreadStopwatch()
        self._state = state
        self._quota = quota
        state.room = quota.room
        state.limits = replace(state.limits, called_instances=quota.most_called)
        quota.removed = state.removed_tenants

    def grow(self, turn: Turn, entries: Iterable[Entry], *, now: datetime) -> Growth:
        """Run more entries; postponed and remaining entries are not part of the turn."""
        growth = Growth()
        began = last = self._stopwatch()
        longest: tuple[float, Entry | None] = (-1.0, None)
        rows, octets = turn.rows, turn.octets
        for entry in entries:
            if growth.slow is not None or not turn.has_room_for(entry):
                growth.left.append(entry)
                continue
            before = len(growth.events)
            try:
                result = self._result(entry, turn, growth, now)
            except NotLoaded as absent:
                growth.missing |= absent.documents
                entry.missed |= absent.documents
                growth.postponed.append(entry)
                continue
            turn.share += entry.share
            turn.results.append((entry, result))
            happened = growth.events[before:]
            _audit(happened, entry, turn.batch, now)
            answers = len(turn.batch.answers)
            self._keep(entry, result, happened, turn.batch, now=now)
            turn.octets += sum([len(answer.answer) for answer in turn.batch.answers[answers:]])
            started, last = last, self._stopwatch()
            if last - started > longest[0]:
                longest = last - started, entry
            more_rows, rows = turn.rows - rows, turn.rows
            more_octets, octets = turn.octets - octets, turn.octets
            if more_rows >= MANY_ROWS or more_octets >= MANY_OCTETS:
                growth.slow = entry
            elif last - began >= self._seconds:
                growth.slow = longest[1]
        turn.batch.reservations += self._quota.settled()
        growth.seconds = last - began
        self._report(growth)
        turn.events += growth.events
        return growth

    def _keep(
        self, entry: Entry, result: Result, happened: Sequence[Event], batch: Batch, *, now: datetime
    ) -> None:
        """Add the command's data to the batch, but nothing of a tenant that is being removed."""
        removed = self._state.removed_tenants
        batch.audit += (
            [each for each in entry.noted if each.tenant_id not in removed] if removed else entry.noted
        )
        if entry.incoming is not None and not isinstance(result, Internal):
            batch.taken.append(entry.incoming)
        if entry.origin is not None and entry.origin.tenant_id not in removed:
            _keep(entry, result, batch, now, concerned=self._concerned(entry, happened))

    def _concerned(self, entry: Entry, happened: Iterable[Event]) -> Concerned:
        """The process instance of the events, or the user task of a rejected command if it belongs to the tenant."""
        for event in happened:
            if isinstance(event, InstanceEvent):
                return Concerned(event.instance)
        key: Key | None = getattr(entry.command, "user_task_key", None)
        owner = self._state.instances.get(self._state.owners.get(key, key)) if key is not None else None
        user_task = owner.user_tasks.get(key) if owner is not None and key is not None else None
        if owner is None or user_task is None or owner.head.tenant_id != entry.tenant_id:
            return NOTHING
        return Concerned(owner.head, user_task.element_instance_key, user_task.form_key)

    @staticmethod
    def _report(growth: Growth) -> None:
        if growth.seconds >= SLOW_SECONDS:
            facts = {"seconds": round(growth.seconds, 3), "events": len(growth.events)}
            logger.warning("a turn was slow", extra=facts)

    def seal(self, turn: Turn) -> None:
        """Pack the changed documents and effects of the turn, before the next turn changes them."""
        batch = turn.batch
        batch.last_key = self._state.last_key
        for document, changed in turn.touched.items():
            batch.documents[document] = changed_pages(self._state, document, changed)
        for event in turn.events:
            effect = _EFFECTS.get(type(event))
            if effect is not None:
                effect(event, batch, self._state.format)

    def _result(self, entry: Entry, turn: Turn, growth: Growth, now: datetime) -> Result:
        if entry.command is None:
            turn.octets += entry.octets
            return DONE
        try:
            self._quota.check(entry.command)
            requester = None if entry.origin is None else requester_of(entry.origin)
            outcome = process(
                self._state, entry.command, now, self._stopwatch, requester, is_due=entry.is_due
            )
        except NotLoaded:
            raise
        except ServiceError as refusal:
            return refusal
        except Rejected as rejected:
            return _REFUSALS[rejected.type](rejected.reason)
        except Exception:
            logger.exception("command failed", extra={"command": type(entry.command).__name__})
            return Internal()
        turn.faults += len(outcome.faults)
        for fault in outcome.faults:
            facts = {"command": type(entry.command).__name__}
            logger.error("a step failed; the rest of the command took effect", exc_info=fault, extra=facts)
        changes = turn.batch.changes
        before = len(changes)
        project(outcome.events, now, changes)
        growth.events += outcome.events
        written = written_octets(outcome, changes[before:], self._state, turn.touched)
        turn.octets += max(entry.octets, written)
        _touch(turn, growth, outcome.changed)
        self._quota.observe(outcome.events, turn.batch.active_instances)
        return outcome.answer


def _touch(turn: Turn, growth: Growth, changed: Mapping[DocumentId, set[Key]]) -> None:
    for document, records in changed.items():
        growth.touched[document] = None
        earlier = turn.touched.get(document)
        if earlier is None:
            turn.touched[document] = records
        else:
            earlier |= records


def _audit(happened: Sequence[Event], entry: Entry, batch: Batch, now: datetime) -> None:
    """Add the changes' audit data to the batch, whichever command caused them."""
    has_batch_items = processes_batch_items(entry.command)
    if changes_user_tasks(happened):
        changes = list(user_task_entries(happened, entry.origin, now))
        note_batch_operation(changes, happened if has_batch_items else ())
        batch.audit += changes
        batch.answers += final_answers(happened, now)
    if has_batch_items:
        batch.audit += batch_item_entries(happened, now)


def _keep(entry: Entry, result: Result, batch: Batch, now: datetime, *, concerned: Concerned) -> None:
    """Add the data of a caller's command to the batch: its audit entry and the response."""
    origin = entry.origin
    if origin is None or entry.command is None:
        return
    audited = audit_entry(entry.command, origin, result, now, concerned=concerned)
    if audited is not None:
        batch.audit.append(audited)
    key = origin.idempotency
    # The answer of a command that began a transition is kept when the transition ends.
    if key is not None and not isinstance(result, ServiceError | TransitionBegun):
        packed = ANSWERS.pack(result)
        batch.answers.append(StoredAnswer(key.tenant_id, key.key, key.request_hash, packed, now))


Deployed = ProcessDefinitionDeployed | DecisionRequirementsDeployed | FormDeployed | GenericResourceDeployed
# The definitions that every partition reads when it recovers.
Known = Deployed | ClusterVariableSet | GlobalTaskListenerSet


def _definition_deployed(event: Deployed, batch: Batch, cluster: ClusterFormat) -> None:
    batch.definitions[event.key] = _encode(event)
    packed = COMMANDS.pack(AdoptDefinition(event))
    batch.outgoing.append(OutgoingCommand(EVERY_OTHER_PARTITION, packed, cluster.wire))


def _file_deployed(
    event: FormDeployed | GenericResourceDeployed, batch: Batch, cluster: ClusterFormat
) -> None:
    _definition_deployed(event.known, batch, cluster)


def _definition_deleted(
    event: ProcessDefinitionDeleted | DecisionRequirementsDeleted | FormDeleted | GenericResourceDeleted,
    batch: Batch,
    _: ClusterFormat,
) -> None:
    """Store a definition as deleted: recovering partitions need it for its running process instances."""
    batch.definitions[event.definition.key] = _encode(event.definition)


def _set(event: ClusterVariableSet | GlobalTaskListenerSet, batch: Batch, _: ClusterFormat) -> None:
    batch.definitions[event.key] = _encode(event)


def _cluster_variable_deleted(event: ClusterVariableDeleted, batch: Batch, _: ClusterFormat) -> None:
    batch.definitions[event.variable.key] = None


def _global_task_listener_deleted(event: GlobalTaskListenerDeleted, batch: Batch, _: ClusterFormat) -> None:
    batch.definitions[event.listener.key] = None


def definition_of(content: bytes) -> Known:
    """Unpack a value of `Batch.definitions`."""
    return _decode(content)


def _tenant_marked(event: TenantMarked, batch: Batch, _: ClusterFormat) -> None:
    batch.removed_tenants[event.tenant_id] = event.number


def _tenant_purged(event: TenantPurged, batch: Batch, _: ClusterFormat) -> None:
    batch.definitions.update(dict.fromkeys(event.definitions))


def _tenant_released(event: TenantReleased, batch: Batch, _: ClusterFormat) -> None:
    batch.removed_tenants[event.tenant_id] = None


def _command_sent(event: CommandSent, batch: Batch, cluster: ClusterFormat) -> None:
    packed = COMMANDS.pack(event.command)
    batch.outgoing.append(OutgoingCommand(PartitionId(event.partition_id), packed, cluster.wire))


_encode = msgspec.msgpack.Encoder().encode
_decode: Callable[[bytes], Known] = msgspec.msgpack.Decoder(Known).decode

# Effects of events beyond rows and documents.
_EFFECTS: Mapping[type[Event], Callable[..., None]] = {
    ProcessDefinitionDeployed: _definition_deployed,
    DecisionRequirementsDeployed: _definition_deployed,
    FormDeployed: _file_deployed,
    GenericResourceDeployed: _file_deployed,
    ProcessDefinitionDeleted: _definition_deleted,
    DecisionRequirementsDeleted: _definition_deleted,
    FormDeleted: _definition_deleted,
    GenericResourceDeleted: _definition_deleted,
    ClusterVariableSet: _set,
    ClusterVariableDeleted: _cluster_variable_deleted,
    GlobalTaskListenerSet: _set,
    GlobalTaskListenerDeleted: _global_task_listener_deleted,
    TenantMarked: _tenant_marked,
    TenantPurged: _tenant_purged,
    TenantReleased: _tenant_released,
    CommandSent: _command_sent,
}

_REFUSALS: Mapping[RejectionType, type[ServiceError]] = {
    RejectionType.INVALID_ARGUMENT: InvalidArgument,
    RejectionType.NOT_FOUND: NotFound,
    RejectionType.INVALID_STATE: InvalidState,
    RejectionType.ALREADY_EXISTS: AlreadyExists,
    RejectionType.EXHAUSTED: QuotaExhausted,
    RejectionType.BUSY: ResourceExhausted,
}
