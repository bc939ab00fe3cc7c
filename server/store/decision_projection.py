"""Projects the events of decisions to rows: deployed graphs and decisions, and evaluations."""

from datetime import datetime

import msgspec

from server.engine.decision_events import (
    DecisionEvaluated,
    DecisionInstanceDeleted,
    DecisionRequirementsDeleted,
    DecisionRequirementsDeployed,
    EvaluatedDecision,
)
from server.engine.keys import Key
from server.store.entities import (
    DecisionDefinition,
    DecisionDefinitionType,
    DecisionInstance,
    DecisionInstanceState,
    DecisionRequirements,
)
from server.store.ports import Change, Delete, Insert, Update
from server.store.xml_text import xml_text

_TYPES = {kind.value: kind for kind in DecisionDefinitionType}

_DELETED = {"is_latest_version": False, "is_deleted": True}

_encode = msgspec.json.Encoder().encode


def decision_requirements_deployed(
    event: DecisionRequirementsDeployed, now: datetime, changes: list[Change]
) -> None:
    requirements = DecisionRequirements(
        decision_requirements_key=event.key,
        tenant_id=event.tenant_id,
        decision_requirements_id=event.decision_requirements_id,
        decision_requirements_name=event.name,
        version=event.version,
        resource_name=event.resource_name,
        xml=xml_text(event.content),
        deployment_key=event.deployment_key,
        deployment_time=now,
    )
    changes.append(Insert(requirements))
    for decision in event.decisions:
        if decision.previous_key is not None:
            changes.append(Update(DecisionDefinition, decision.previous_key, {"is_latest_version": False}))
        definition = DecisionDefinition(
            decision_definition_key=decision.key,
            tenant_id=event.tenant_id,
            decision_definition_id=decision.decision_definition_id,
            name=decision.name,
            version=decision.version,
            decision_requirements_key=event.key,
            decision_requirements_id=event.decision_requirements_id,
            decision_requirements_name=event.name,
            decision_requirements_version=event.version,
        )
        changes.append(Insert(definition))


def decision_evaluated(event: DecisionEvaluated, now: datetime, changes: list[Change]) -> None:
    changes += [Insert(_instance(event, decision, now)) for decision in event.decisions]


def decision_instance_deleted(
    event: DecisionInstanceDeleted,
    now: datetime,  # noqa: ARG001  # as for all events
    changes: list[Change],
) -> None:
    places = range(1, event.last_place + 1)
    changes += [Delete(DecisionInstance, Key(event.key + place)) for place in places]


def _instance(event: DecisionEvaluated, decision: EvaluatedDecision, now: datetime) -> DecisionInstance:
    state = DecisionInstanceState.EVALUATED if decision.failure is None else DecisionInstanceState.FAILED
    return DecisionInstance(
        decision_instance_key=decision.key,
        tenant_id=event.tenant_id,
        decision_evaluation_key=event.key,
        decision_evaluation_instance_key=event.instance_key(decision),
        decision_definition_key=decision.decision_definition_key,
        decision_definition_id=decision.decision_definition_id,
        decision_definition_name=decision.name,
        decision_definition_type=_TYPES.get(decision.type, DecisionDefinitionType.UNKNOWN),
        decision_definition_version=decision.version,
        decision_requirements_key=event.decision_requirements_key,
        root_decision_definition_key=event.decision_definition_key,
        evaluation_date=now,
        result=decision.output,
        inputs=_encode(decision.inputs).decode(),
        rules=_encode(decision.matched_rules).decode(),
        evaluation_failure=decision.failure,
        state=state,
        process_definition_key=event.instance.process_definition_key if event.instance else None,
        process_instance_key=event.instance.key if event.instance else None,
        root_process_instance_key=event.instance.root_key if event.instance else None,
        element_instance_key=event.element_instance_key,
    )


def decision_requirements_deleted(
    event: DecisionRequirementsDeleted,
    now: datetime,  # noqa: ARG001  # as for all events
    changes: list[Change],
) -> None:
    changes.append(Update(DecisionRequirements, event.definition.key, {"is_deleted": True}))
    decisions = event.definition.decisions
    changes += [Update(DecisionDefinition, decision.key, _DELETED) for decision in decisions]
    changes += [Update(DecisionDefinition, key, {"is_latest_version": True}) for key in event.latest_keys]
