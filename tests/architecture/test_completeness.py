"""Completeness of registries: an addition in one place is in all others, too."""

from collections.abc import Iterable, Iterator
from typing import Any, get_args

import pytest

from gnomon.errors.v1 import reason_pb2
from server.bpmn.compile import ELEMENT_TYPES
from server.bpmn.executable import ElementType
from server.bpmn.model import (
    CatchEvent,
    ConditionalGateway,
    Event,
    FlowNode,
    JobTask,
    ThrowEvent,
    Unsupported,
)
from server.engine import (
    batch_events,
    cluster_variable_events,
    commands,
    decision_events,
    events,
    form_events,
    generic_resource_events,
    global_task_listener_events,
    message_events,
    sent,
    signal_events,
    start_timer_events,
    tenant_events,
)
from server.engine.apply import APPLIERS
from server.engine.elements import BEHAVIOURS
from server.engine.handlers import HANDLERS
from server.partition.audit import AUDITED
from server.platform.errors import ERRORS, PROBLEMS, ServiceError
from server.rpc.audit_log_entry import CATEGORIES
from server.store.entities import Entity
from server.store.projection import PROJECTORS
from server.store.searchables import SEARCHABLES

# Facts that only the engine needs.
WITHOUT_ROWS = {
    batch_events.BatchItemsProcessed,
    batch_events.BatchItemsTaken,
    events.ActivitiesCompleted,
    events.AdHocConditionEvaluated,
    events.CallEnded,
    events.CompensationInvoked,
    events.CompensationTriggered,
    events.ConditionalsEvaluated,
    events.DeploymentCreated,
    events.ElementActivated,
    events.ElementCompleting,
    events.ElementInterrupted,
    events.ElementProgressed,
    events.ElementTerminating,
    events.ElementsPlanned,
    events.EventCaught,
    events.ElementsPlanned,
    events.InterruptionFinished,
    events.SubscriptionMoved,
    events.InterruptionLifted,
    events.OutputCollected,
    events.OutputsMerged,
    events.ProcessCalled,
    events.UserTaskCorrected,
    events.DeletionAdopted,
    events.ProcessDefinitionAdopted,
    decision_events.DecisionRequirementsAdopted,
    form_events.FormAdopted,
    generic_resource_events.GenericResourceAdopted,
    cluster_variable_events.ClusterVariableAdopted,
    cluster_variable_events.ClusterVariableDeletionAdopted,
    global_task_listener_events.GlobalTaskListenerAdopted,
    global_task_listener_events.GlobalTaskListenerDeletionAdopted,
    events.JobBackOffEnded,
    events.LoopBegan,
    events.LoopItemCompleted,
    events.ActivitiesCompleted,
    events.AdHocConditionEvaluated,
    events.CallEnded,
    events.CompensationInvoked,
    events.CompensationTriggered,
    events.ProcessCalled,
    events.SequenceFlowTaken,
    events.OutputCollected,
    events.OutputsMerged,
    events.WorkPostponed,
    events.WorkResumed,
    message_events.HomeSubscriptionClosed,
    message_events.HomeSubscriptionOpened,
    message_events.MessageExpired,
    message_events.MessagePostponed,
    message_events.MessagePublished,
    message_events.MessageRemoved,
    message_events.MessageResumed,
    message_events.MessageSent,
    message_events.MessageSettled,
    message_events.MessageTakenBack,
    message_events.ProcessBegun,
    signal_events.BroadcastBegan,
    signal_events.BroadcastEnded,
    signal_events.BroadcastPostponed,
    start_timer_events.StartTimerClosed,
    start_timer_events.StartTimerOpened,
    tenant_events.TenantMarked,
    tenant_events.TenantPurged,
    tenant_events.TenantReleased,
    sent.CommandSent,
}

# Groups of nodes, and what the linter refuses by name.
NO_NODES = {CatchEvent, ConditionalGateway, Event, JobTask, ThrowEvent, Unsupported}

# A call that waits may end late: 504.
PROBLEM_TYPES = {
    "invalid-argument": {400},
    "unauthorized": {401},
    "forbidden": {403},
    "not-found": {404},
    "conflict": {409},
    "payload-too-large": {413},
    "quota-exhausted": {429},
    "internal": {500},
    "mode-not-supported": {501},
    "unavailable": {503, 504},
}


def descendants(kind: type) -> Iterator[type]:
    for child in kind.__subclasses__():
        yield child
        yield from descendants(child)


def names(kinds: object) -> set[str]:
    return {kind.__name__ for kind in kinds}  # type: ignore[attr-defined]


EVENTS = frozenset(descendants(events.Event)) - {events.InstanceEvent, batch_events.BatchEvent}


def test_every_event_has_an_applier() -> None:
    assert names(EVENTS) == names(APPLIERS)


def test_every_event_has_rows_or_is_known_to_have_none() -> None:
    assert names(EVENTS) == names(PROJECTORS) | names(WITHOUT_ROWS)
    assert not WITHOUT_ROWS & PROJECTORS.keys()


def test_every_command_has_a_handler() -> None:
    assert names(get_args(commands.Command)) == names(HANDLERS)


def test_every_kind_of_element_has_a_behaviour() -> None:
    assert set(ElementType) - {ElementType.SEQUENCE_FLOW} == BEHAVIOURS.keys()


def test_every_node_of_the_model_is_compiled_to_an_element_of_its_own() -> None:
    assert names(descendants(FlowNode)) - names(NO_NODES) == names(ELEMENT_TYPES)
    assert len(set(ELEMENT_TYPES.values())) == len(ELEMENT_TYPES)
    assert set(ELEMENT_TYPES.values()) <= BEHAVIOURS.keys()


def test_every_entity_can_be_searched() -> None:
    assert names(get_args(Entity)) == names(SEARCHABLES)


def test_every_entity_of_the_audit_log_has_a_category() -> None:
    assert {audited.entity_type for audited in AUDITED.values()} <= CATEGORIES.keys()


def test_every_error_reason_has_a_problem() -> None:
    reasons = {
        name.removeprefix("ERROR_REASON_") for name in reason_pb2.ErrorReason.DESCRIPTOR.values_by_name
    }

    assert reasons - {"UNSPECIFIED"} == PROBLEMS.keys()


@pytest.mark.parametrize("reason", sorted(PROBLEMS))
def test_a_problem_is_one_of_the_ten_of_the_specification(reason: str) -> None:
    problem = PROBLEMS[reason]

    kind = problem.type.removeprefix("urn:bpm:error:")
    assert problem.type.startswith("urn:bpm:error:")
    assert problem.status in PROBLEM_TYPES[kind]
    assert problem.title
    assert problem.code


def test_every_problem_type_has_a_reason() -> None:
    assert PROBLEM_TYPES.keys() == {
        problem.type.removeprefix("urn:bpm:error:") for problem in PROBLEMS.values()
    }


def test_every_error_of_ours_has_a_problem_and_comes_back_over_a_channel() -> None:
    known: Iterable[Any] = descendants(ServiceError)
    ours = {kind.reason for kind in known if kind.domain == ServiceError.domain}

    assert ours == PROBLEMS.keys()
    assert ours - {"INTERNAL"} == ERRORS.keys()
