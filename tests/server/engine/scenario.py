"""Drives the engine through a story: its own time, one tenant unless told otherwise, every event kept.

`Scenario` calls the engine itself; `tests.server.engine.durable` has one whose commands a partition carries out.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from itertools import chain, starmap
from typing import Any, Self, TypeVar, cast

import msgspec
import pytest

from server.bpmn.builder import ProcessBuilder, definitions
from server.bpmn.reader import read
from server.engine import (
    State,
    batch_commands,
    deployment_commands,
    events,
    job_commands,
    message_commands,
    migration_commands,
    modification_commands,
    process,
    process_instance_commands,
    signal_commands,
    user_task_commands,
)
from server.engine.answers import (
    ActivatedJob,
    ActivatedJobs,
    Answer,
    CorrelatedMessage,
    CreatedInstance,
    Deployment,
)
from server.engine.commands import Command
from server.engine.deployment_commands import Resource
from server.engine.keys import Key
from server.engine.limits import DEFAULT_LIMITS, EngineLimits
from server.engine.process_instance import ElementInstance, Job, ProcessInstance, UserTask
from server.engine.process_instance_commands import ContinueProcessInstance
from server.engine.rejection import Rejected
from server.engine.variables import Variables
from server.partition.due import Due
from tests.durable import EPOCH
from tests.server.engine.laws import expect_laws
from tests.server.engine.rows import Rows

MINUTE = timedelta(minutes=1)

K = TypeVar("K")
Instruction = (
    modification_commands.ActivateInstruction
    | modification_commands.MoveInstruction
    | modification_commands.TerminateInstruction
)


class Scenario:
    """`instance_key` is the process instance that was started last; most methods speak of it."""

    def __init__(self, tenant_id: str = "default", limits: EngineLimits = DEFAULT_LIMITS) -> None:
        self.tenant_id = tenant_id
        self.now = EPOCH
        self.state = State(limits=limits)
        self.events: list[events.Event] = []
        self.last_events: list[events.Event] = []
        self.rows = Rows()
        self.instance_key = Key(0)
        self.due = Due()
        self.process_id = ""

    # Commands

    def execute(self, command: Command) -> Answer:
        return self._done(command, is_due=False)

    def carry_out(self, command: Command) -> Answer:
        """Execute a command that time sends."""
        return self._done(command, is_due=True)

    def _done(self, command: Command, *, is_due: bool) -> Answer:
        outcome = process(self.state, command, self.now, is_due=is_due)
        self.last_events = outcome.events
        self.happens(outcome.events)
        self._go_on()
        return outcome.answer

    def _go_on(self) -> None:
        """Do what was left for later turns, as a partition does by itself."""
        while command := next(
            chain(self._left_of_messages(), self._left_of_broadcasts(), self._left_of_batches()), None
        ):
            self.happens(process(self.state, command, self.now).events)
        while instance := next(self._left_of_instances(), None):
            self.happens(
                process(
                    self.state,
                    ContinueProcessInstance(instance.head.tenant_id, instance.head.key),
                    self.now,
                    is_due=True,
                ).events
            )

    def _left_of_instances(self) -> Iterator[ProcessInstance]:
        """Those with postponed work that they continue themselves."""
        calls = self.state.calls
        return (
            each
            for each in self.state.instances.values()
            if each.work and not calls.waits_for_termination(each.head.key)
        )

    def _left_of_messages(self) -> Iterator[Command]:
        return (
            message_commands.ContinueMessage(each.tenant_id, each.key)
            for each in self.state.messages.messages.values()
            if each.postponed_at is not None
        )

    def _left_of_broadcasts(self) -> Iterator[Command]:
        return (
            signal_commands.ContinueBroadcast(each.tenant_id, each.key)
            for each in self.state.signals.broadcasts.values()
        )

    def _left_of_batches(self) -> Iterator[Command]:
        return (
            batch_commands.ContinueBatchOperation(each.tenant_id, each.key)
            for each in self.state.batches.operations.values()
            if each.due is not None and each.due <= self.now
        )

    def refusal(self, command: Command) -> Rejected:
        """The rejection that the command meets."""
        with pytest.raises(Rejected) as caught:
            self.execute(command)
        return caught.value

    def advance(self, by: timedelta) -> Self:
        """A cycle that is late by several intervals fires for each of them."""
        self.now += by
        while self.due.has_come(self.now):
            for command in list(self.due.take(self.now, 10_000)):
                self.carry_out(command)
        return self

    def deploy(self, *processes: ProcessBuilder | bytes, name: str = "process.bpmn") -> Self:
        """Each process in a file of its own, all in one deployment."""
        self.deployment(*processes, name=name)
        return self

    def deployment(self, *processes: ProcessBuilder | bytes, name: str = "process.bpmn") -> Deployment:
        resources = tuple(resource(found, name) for found in processes)
        self.process_id = resources[0].process_ids[0]
        answer = self.execute(deployment_commands.DeployResources(self.tenant_id, resources))
        return cast("Deployment", answer)

    def start(self, process_id: str | None = None, /, **variables: object) -> Self:
        command = process_instance_commands.CreateProcessInstance(
            tenant_id=self.tenant_id,
            process_definition_id=process_id or self.process_id,
            variables=texts(variables),
        )
        return self.create(command)

    def create(self, command: process_instance_commands.CreateProcessInstance) -> Self:
        """Create the process instance that later calls are about."""
        self.instance_key = cast("CreatedInstance", self.execute(command)).head.key
        return self

    def activate(
        self, job_type: str, most: int = 32, timeout: timedelta = MINUTE
    ) -> tuple[ActivatedJob, ...]:
        command = job_commands.ActivateJobs(
            tenant_id=self.tenant_id, type=job_type, worker="worker", timeout=timeout, max_jobs=most
        )
        return cast("ActivatedJobs", self.execute(command)).jobs

    def complete(self, job_type: str, **variables: object) -> Self:
        """Let a worker do the job of this type that was offered first."""
        (job,) = self.activate(job_type, most=1)
        self.execute(job_commands.CompleteJob(self.tenant_id, job.key, texts(variables)))
        return self

    def complete_user_task(self, element_id: str, **variables: object) -> Self:
        """Complete the oldest user task of this element."""
        self.execute(
            user_task_commands.CompleteUserTask(
                self.tenant_id, self.user_task(element_id).key, texts(variables)
            )
        )
        return self

    def publish(
        self,
        name: str,
        key: str = "",
        *,
        lives: timedelta = timedelta(),
        message_id: str = "",
        **variables: object,
    ) -> Self:
        """Publish a message with this correlation key."""
        self.execute(self.publication(name, key, lives=lives, message_id=message_id, **variables))
        return self

    def publication(
        self,
        name: str,
        key: str = "",
        *,
        lives: timedelta = timedelta(),
        message_id: str = "",
        **variables: object,
    ) -> Command:
        return message_commands.PublishMessage(
            tenant_id=self.tenant_id,
            name=name,
            correlation_key=key,
            time_to_live=lives,
            message_id=message_id,
            variables=texts(variables),
        )

    def correlate(self, name: str, key: str = "", **variables: object) -> CorrelatedMessage:
        """Publish a message to what waits for it now."""
        command = message_commands.CorrelateMessage(self.tenant_id, name, key, texts(variables))
        return cast("CorrelatedMessage", self.execute(command))

    def broadcast(self, name: str, **variables: object) -> Self:
        self.execute(signal_commands.BroadcastSignal(self.tenant_id, name, texts(variables)))
        return self

    def fail(self, job_type: str, retries: int = 0, message: str = "") -> Self:
        (job,) = self.activate(job_type, most=1)
        self.execute(
            job_commands.FailJob(
                tenant_id=self.tenant_id, job_key=job.key, retries=retries, error_message=message
            )
        )
        return self

    def cancel(self) -> Self:
        self.execute(process_instance_commands.CancelProcessInstance(self.tenant_id, self.instance_key))
        return self

    def migrate(self, process_id: str, mapping: Mapping[str, str]) -> Self:
        self.execute(self.migration(process_id, mapping))
        return self

    def migration(self, process_id: str, mapping: Mapping[str, str]) -> Command:
        """To the latest version of the process."""
        target = self.state.latest(self.tenant_id, process_id)
        assert target is not None, f"{process_id} is not deployed"
        return migration_commands.MigrateProcessInstance(
            tenant_id=self.tenant_id,
            process_instance_key=self.instance_key,
            target_process_definition_key=target.key,
            mapping_instructions=tuple(starmap(migration_commands.MappingInstruction, mapping.items())),
        )

    def modify(self, *instructions: Instruction) -> Self:
        self.execute(self.modification(*instructions))
        return self

    def modification(self, *instructions: Instruction) -> Command:
        return modification_commands.ModifyProcessInstance(
            tenant_id=self.tenant_id,
            process_instance_key=self.instance_key,
            activate_instructions=_of(modification_commands.ActivateInstruction, instructions),
            move_instructions=_of(modification_commands.MoveInstruction, instructions),
            terminate_instructions=_of(modification_commands.TerminateInstruction, instructions),
        )

    def resolve(self) -> Self:
        self.execute(process_instance_commands.ResolveIncident(self.tenant_id, self.incident.key))
        return self

    def happens(self, happened: Sequence[events.Event]) -> None:
        """Take note of what a command, or time, brought."""
        self.events += happened
        self.due.observe(happened)
        self.rows.apply(happened, self.now)

    def expect_laws(self) -> None:
        """Check the laws that hold after any story."""
        expect_laws(self.state, self.events, self.rows)

    # The state now

    @property
    def instance(self) -> ProcessInstance:
        return self.state.instances[self.instance_key]

    @property
    def is_running(self) -> bool:
        return self.instance_key in self.state.instances

    @property
    def is_completed(self) -> bool:
        return self._has_ended(events.ElementCompleted)

    @property
    def is_terminated(self) -> bool:
        return self._has_ended(events.ElementTerminated)

    def job(self, job_type: str) -> Job:
        """The oldest job of this type in the instance."""
        return next(job for job in self.instance.jobs.values() if job.type == job_type)

    def user_task(self, element_id: str) -> UserTask:
        """The oldest user task of this element in the instance."""
        return next(task for task in self.instance.user_tasks.values() if task.element_id == element_id)

    @property
    def offered(self) -> list[str]:
        """Elements of the instance whose jobs are on offer, the next one first."""
        queues = self.state.offers.values()
        keys = [
            key
            for queue in queues
            for key, offer in queue.items()
            if offer.process_instance_key == self.instance_key
        ]
        return [self.instance.jobs[key].element_id for key in keys]

    @property
    def incident(self) -> events.IncidentRaised:
        """The open incident that was raised last."""
        raised = [event for event in self.events if isinstance(event, events.IncidentRaised)]
        return [event for event in raised if event.key in self.state.owners][-1]

    def element(self, element_id: str) -> ElementInstance:
        return next(found for found in self.instance.elements.values() if found.element_id == element_id)

    def variables(self, scope_key: Key | None = None) -> dict[str, Any]:
        """Variables of one scope, those around it left out; they outlive the instance."""
        scope = self.instance_key if scope_key is None else scope_key
        found = [
            event
            for event in self.events
            if isinstance(event, events.VariableCreated | events.VariableUpdated) and event.scope_key == scope
        ]
        return {event.name: msgspec.json.decode(event.value) for event in found}

    # The history

    @property
    def path(self) -> list[str]:
        """Elements of the instance in the order of their completion."""
        entered = self.happened(events.ElementActivating)
        ids = {event.key: event.element_id for event in entered}
        return [ids[event.key] for event in self.happened(events.ElementCompleted) if event.key in ids]

    def happened(self, *kinds: type[Any]) -> list[Any]:
        """Events of these kinds in the instance."""
        return [event for event in self.events if isinstance(event, kinds) and self._is_here(event)]

    def _is_here(self, event: events.Event) -> bool:
        return isinstance(event, events.InstanceEvent) and event.instance.key == self.instance_key

    def _has_ended(self, kind: type[events.InstanceEvent]) -> bool:
        return any(event.key == self.instance_key for event in self.happened(kind))


def _of(kind: type[K], instructions: Sequence[Instruction]) -> tuple[K, ...]:
    return tuple(each for each in instructions if isinstance(each, kind))


def resource(content: ProcessBuilder | bytes, name: str = "process.bpmn") -> Resource:
    xml = content if isinstance(content, bytes) else definitions(content)
    ids = tuple(found.id for found in read(xml).processes)
    return Resource(name, xml, hashlib.sha256(xml).hexdigest(), ids)


def texts(variables: dict[str, object]) -> Variables:
    return {name: msgspec.json.encode(value).decode() for name, value in variables.items()}
