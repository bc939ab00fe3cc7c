"""Statistics over the rows of entities: measures and groups.

To add a statistic, declare a class with the values of a group as fields, and a `Statistic` of it.
"""

from dataclasses import dataclass

from server.engine.keys import Key
from server.platform.query import Condition, Count, Different, Operator, Statistic, equals
from server.store.entities import ElementInstanceState
from server.store.searchables import (
    DECISION_INSTANCES,
    ELEMENT_INSTANCES,
    INCIDENTS,
    MESSAGE_SUBSCRIPTIONS,
    PROCESS_DEFINITIONS,
    PROCESS_INSTANCES,
    USER_TASKS,
)

# Element instances


@dataclass(frozen=True, slots=True)
class ElementStatistics:
    """The number of instances of an element, ended ones included.

    `active` are active instances without an open incident, `incidents` those with one.
    """

    element_id: str
    active: int
    completed: int
    canceled: int
    incidents: int


@dataclass(frozen=True, slots=True)
class TakenSequenceFlow:
    """A sequence flow; `elements` is the number of element instances that took it."""

    sequence_flow_ids: str
    elements: int


def _in_state(state: ElementInstanceState) -> Condition:
    return equals(ELEMENT_INSTANCES, "state", state)


_IS_ACTIVE = _in_state(ElementInstanceState.ACTIVE)

ELEMENTS = Statistic.of(
    ElementStatistics,
    ELEMENT_INSTANCES,
    by=("element_id",),
    measures={
        "active": Count((_IS_ACTIVE, equals(ELEMENT_INSTANCES, "has_incident", value=False))),
        "completed": Count((_in_state(ElementInstanceState.COMPLETED),)),
        "canceled": Count((_in_state(ElementInstanceState.TERMINATED),)),
        "incidents": Count((_IS_ACTIVE, equals(ELEMENT_INSTANCES, "has_incident", value=True))),
    },
)

TAKEN_SEQUENCE_FLOWS = Statistic.of(
    TakenSequenceFlow, ELEMENT_INSTANCES, by=("sequence_flow_ids",), measures={"elements": Count()}
)

# Process instances


@dataclass(frozen=True, slots=True)
class ProcessStatistics:
    """The number of active instances of a process, of all its versions."""

    process_definition_id: str
    active_instances_without_incident_count: int
    active_instances_with_incident_count: int


@dataclass(frozen=True, slots=True)
class VersionStatistics:
    """The number of active instances of a process definition."""

    process_definition_id: str
    process_definition_key: Key
    process_definition_name: str | None
    process_definition_version: int
    active_instances_without_incident_count: int
    active_instances_with_incident_count: int


_INSTANCES = {
    "active_instances_without_incident_count": Count(
        (equals(PROCESS_INSTANCES, "has_incident", value=False),)
    ),
    "active_instances_with_incident_count": Count((equals(PROCESS_INSTANCES, "has_incident", value=True),)),
}

PROCESSES = Statistic.of(
    ProcessStatistics,
    PROCESS_INSTANCES,
    by=("process_definition_id",),
    measures=_INSTANCES,
    is_live=True,
)

VERSIONS = Statistic.of(
    VersionStatistics,
    PROCESS_INSTANCES,
    by=(
        "process_definition_id",
        "process_definition_key",
        "process_definition_name",
        "process_definition_version",
    ),
    measures=_INSTANCES,
    is_live=True,
)

# Process definitions


@dataclass(frozen=True, slots=True)
class DeployedProcess:
    """A process; `versions` is the number of versions that are not deleted."""

    process_definition_id: str
    versions: int


@dataclass(frozen=True, slots=True)
class DeployedVersion:
    """A process definition without its model; `definitions` is always 1."""

    process_definition_key: Key
    process_definition_id: str
    name: str | None
    version: int
    definitions: int


DEPLOYED_PROCESSES = Statistic.of(
    DeployedProcess, PROCESS_DEFINITIONS, by=("process_definition_id",), measures={"versions": Count()}
)
DEPLOYED_VERSIONS = Statistic.of(
    DeployedVersion,
    PROCESS_DEFINITIONS,
    by=("process_definition_key", "process_definition_id", "name", "version"),
    measures={"definitions": Count()},
)

# Message subscriptions


@dataclass(frozen=True, slots=True)
class SubscriptionStatistics:
    """The number of open message subscriptions of a process definition, and of process instances with one."""

    process_definition_id: str
    process_definition_key: Key
    active_subscriptions: int
    process_instances_with_active_subscriptions: int


SUBSCRIPTIONS = Statistic.of(
    SubscriptionStatistics,
    MESSAGE_SUBSCRIPTIONS,
    by=("process_definition_id", "process_definition_key"),
    measures={
        "active_subscriptions": Count(),
        "process_instances_with_active_subscriptions": Different(
            MESSAGE_SUBSCRIPTIONS.fields["process_instance_key"]
        ),
    },
    is_live=True,
)

# Incidents


@dataclass(frozen=True, slots=True)
class ElementWithIncidents:
    """An element instance with the number of its incidents, resolved ones included."""

    element_instance_key: Key
    incidents: int


@dataclass(frozen=True, slots=True)
class Error:
    """An error message, and the number of process instances with an open incident that has it."""

    error_message: str
    instances: int


@dataclass(frozen=True, slots=True)
class VersionWithErrors:
    """The number of process instances of a process definition with open incidents."""

    process_definition_key: Key
    instances: int


_INSTANCES_WITH_INCIDENTS = {"instances": Different(INCIDENTS.fields["process_instance_key"])}

ELEMENTS_WITH_INCIDENTS = Statistic.of(
    ElementWithIncidents, INCIDENTS, by=("element_instance_key",), measures={"incidents": Count()}
)
ERRORS = Statistic.of(
    Error, INCIDENTS, by=("error_message",), measures=_INSTANCES_WITH_INCIDENTS, is_live=True
)
VERSIONS_WITH_ERRORS = Statistic.of(
    VersionWithErrors,
    INCIDENTS,
    by=("process_definition_key",),
    measures=_INSTANCES_WITH_INCIDENTS,
    is_live=True,
)

# Usage


@dataclass(frozen=True, slots=True)
class Amount:
    """A total over all rows."""

    number: int


STARTED_INSTANCES = Statistic.of(Amount, PROCESS_INSTANCES, by=(), measures={"number": Count()})
EVALUATED_DECISIONS = Statistic.of(Amount, DECISION_INSTANCES, by=(), measures={"number": Count()})
ASSIGNEES = Statistic.of(
    Amount, USER_TASKS, by=(), measures={"number": Different(USER_TASKS.fields["assignee"])}
)
IS_NOT_CALLED = Condition(
    PROCESS_INSTANCES.fields["parent_process_instance_key"], Operator.EXISTS, operand=False
)
