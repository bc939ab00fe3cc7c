"""Our engine in memory, with its picture."""

import json
from collections.abc import Mapping
from datetime import datetime, timedelta

from server.bpmn.executable import ElementType
from server.engine import events
from server.engine.commands import Command
from server.engine.keys import Key
from server.engine.process_instance import JobState
from server.engine.rejection import Rejected, RejectionType
from server.engine.subscriptions import (
    AnySubscription,
    MessageSubscription,
    SignalSubscription,
    TimerSubscription,
)
from tests.peer.picture import Incident, Job, Picture, Task, Wait, values
from tests.server.engine.scenario import Scenario

TENANT = "default"
OK = "OK"
# As the gRPC gateway of the peer spells them.
_REFUSALS = {RejectionType.INVALID_STATE: "FAILED_PRECONDITION"}


class Ours:
    def __init__(self, now: datetime) -> None:
        self.scenario = Scenario(TENANT)
        self.scenario.now = now
        self.picture = Picture(milliseconds(now))
        self.reason = ""
        self._seen = 0
        # Activated jobs have variables that no event carries.
        self._activated: dict[Key, Mapping[str, object]] = {}

    def deploy(self, *files: bytes) -> None:
        self.scenario.deploy(*files)

    def execute(self, command: Command) -> str:
        """The answer: OK, or the status of a refusal, whose `reason` is kept."""
        self.reason = ""
        try:
            self.scenario.execute(command)
        except Rejected as rejected:
            self.reason = rejected.reason
            return _REFUSALS.get(rejected.type, rejected.type.value)
        return OK

    def activate(self, job_types: tuple[str, ...], timeout: timedelta) -> None:
        for job_type in job_types:
            for job in self.scenario.activate(job_type, most=1000, timeout=timeout):
                self._activated[job.key] = values(job.variables)

    def advance(self, by: timedelta) -> None:
        self.scenario.advance(by)

    def look(self) -> Picture:
        happened = self.scenario.events[self._seen :]
        self._seen = len(self.scenario.events)
        for event in happened:
            _note(self.picture, event)
        for key, job in self.picture.jobs.items():
            job.variables = self._activated.get(Key(key), {})
        return self.picture


def _note(picture: Picture, event: events.Event) -> None:
    state = _STATES.get(type(event))
    if state is not None:
        picture.move(event.key, state)  # type: ignore[attr-defined]  # each of them has one
        return
    match event:
        case events.ProcessInstanceCreated(instance=head):
            caller = head.caller
            scope_key = None if caller is None else caller.element_instance_key
            picture.enter(head.key, scope_key, head.process_definition_id, ElementType.PROCESS.value)
        case events.ElementActivating():
            picture.enter(event.key, event.scope_key, event.element_id, event.type.value)
        case events.SequenceFlowTaken():
            picture.take(event.scope_key, event.flow_id)
        case events.VariableCreated() | events.VariableUpdated():
            picture.set(event.scope_key, event.name, json.loads(event.value))
        case events.SubscriptionOpened():
            _open(picture, event.subscription)
        case _:
            _note_trouble(picture, event)


def _note_trouble(picture: Picture, event: events.Event) -> None:
    match event:
        case events.IncidentRaised():
            type_ = event.error_type.value
            picture.incidents[event.key] = Incident(
                event.key, event.element_instance_key, type_, event.job_key
            )
        case events.IncidentResolved():
            picture.resolve(event.key)
        case events.SubscriptionClosed():
            for waits in (picture.timers, picture.messages, picture.signals):
                waits.pop(event.key, None)
        case events.JobCreated():
            picture.jobs[event.key] = Job(
                event.key,
                event.element_instance_key,
                event.type,
                event.retries,
                event.headers,
                event.kind.value,
                event.listener_event_type.value,
            )
        case events.JobCompleted() | events.JobCanceled():
            picture.jobs.pop(event.key, None)
        case _:
            _note_task(picture, event)
            _note_job(picture, event)


def _note_task(picture: Picture, event: events.Event) -> None:
    match event:
        case events.UserTaskCreated():
            picture.tasks[event.key] = Task(
                event.key, event.element_instance_key, {"assignee": "", **_task(event)}
            )
        case events.UserTaskAssigned(assignee=assignee):
            task = picture.tasks[event.key]
            task.values = {**task.values, "assignee": assignee}
        case events.UserTaskUpdated():
            task = picture.tasks[event.key]
            task.values = {**task.values, **_task(event)}
        case events.UserTaskCompleted() | events.UserTaskCanceled():
            del picture.tasks[event.key]


def _task(event: events.UserTaskCreated | events.UserTaskUpdated) -> Mapping[str, object]:
    return {
        "candidateGroups": event.candidate_groups,
        "candidateUsers": event.candidate_users,
        "dueDate": _moment(event.due_date),
        "followUpDate": _moment(event.follow_up_date),
        "priority": event.priority,
    }


def _moment(date: datetime | None) -> float | None:
    return None if date is None else date.timestamp()


def _open(picture: Picture, subscription: AnySubscription) -> None:
    key, element_key, event_id = subscription.key, subscription.element_instance_key, subscription.element_id
    match subscription:
        case TimerSubscription(due=due, repetitions=repetitions):
            wait = Wait(key, element_key, event_id, (milliseconds(due), repetitions))
            picture.timers[key] = wait
        case MessageSubscription(message_name=name, correlation_key=correlation_key):
            picture.messages[key] = Wait(key, element_key, event_id, (name, correlation_key))
        case SignalSubscription(signal_name=name):
            picture.signals[key] = Wait(key, element_key, event_id, (name,))


def _note_job(picture: Picture, event: events.Event) -> None:
    match event:
        case events.JobActivated():
            job = picture.jobs[event.key]
            job.state, job.deadline = JobState.ACTIVATED.value, milliseconds(event.deadline)
        case events.JobFailed():
            job = picture.jobs[event.key]
            job.retries = event.retries
            job.state = _after_failure(event)
            job.deadline = milliseconds(event.offered_at) if event.offered_at else None
        case events.JobTimedOut() | events.JobBackOffEnded():
            picture.jobs[event.key].state = JobState.ACTIVATABLE.value
        case events.JobRetriesUpdated():
            picture.jobs[event.key].retries = event.retries
        case events.JobErrorThrown():
            picture.jobs[event.key].state = JobState.ERROR_THROWN.value
            if event.is_caught:
                del picture.jobs[event.key]


def _after_failure(event: events.JobFailed) -> str:
    if not event.retries:
        return JobState.FAILED.value
    return (JobState.BACKING_OFF if event.offered_at else JobState.ACTIVATABLE).value


def milliseconds(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)


_STATES: Mapping[type[events.Event], str] = {
    events.ElementActivated: "ACTIVATED",
    events.ElementCompleting: "COMPLETING",
    events.ElementCompleted: "COMPLETED",
    events.ElementTerminating: "TERMINATING",
    events.ElementTerminated: "TERMINATED",
}
