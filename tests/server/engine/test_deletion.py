"""Deletion of process definitions and decisions: what runs goes on, the version before takes the place."""

from datetime import timedelta
from typing import TYPE_CHECKING, cast

import pytest

from server.bpmn.builder import ProcessBuilder, process
from server.engine import State, decision_commands, events, process_instance_commands
from server.engine import process as handle
from server.engine.decision_events import DecisionRequirementsDeployed
from server.engine.deployment_commands import AdoptDefinition, AdoptDeletion, DeleteResource
from server.engine.keys import Key
from server.engine.rejection import RejectionType
from server.engine.sent import CommandSent
from server.store import entities
from tests.durable import EPOCH
from tests.server.engine.graphs import answering, graph
from tests.server.engine.scenario import MINUTE, Scenario
from tests.server.engine.test_decision_deployment import deployed

if TYPE_CHECKING:
    from server.engine.answers import DecisionResult

DELETED = entities.ProcessDefinitionState.DELETED


def order(job_type: str, *, tag: str | None = None) -> ProcessBuilder:
    return process("order", version_tag=tag).start().service_task("a", type=job_type).end()


def version_keys(engine: Scenario) -> list[Key]:
    """Of all versions that were deployed, the deleted ones included."""
    return sorted(engine.state.definitions)


def delete(engine: Scenario, key: Key) -> Scenario:
    engine.execute(DeleteResource("default", key))
    return engine


def test_active_process_instances_go_on(engine: Scenario) -> None:
    engine.deploy(order("a")).start()

    delete(engine, version_keys(engine)[0]).complete("a")

    assert engine.is_completed
    engine.expect_laws()


def test_the_version_before_begins_instances(engine: Scenario) -> None:
    engine.deploy(order("a")).deploy(order("b"))
    first, second = version_keys(engine)

    delete(engine, second).start()

    assert engine.offered == ["a"]
    assert engine.instance.head.version == 1
    rows = {key: engine.rows.get(entities.ProcessDefinition, key) for key in (first, second)}
    assert [(row.state, row.is_latest_version) for row in rows.values()] == [
        ("ACTIVE", True),
        (DELETED, False),
    ]


def test_the_latest_version_stays_when_another_one_is_deleted(engine: Scenario) -> None:
    engine.deploy(order("a")).deploy(order("b"))
    first, second = version_keys(engine)

    delete(engine, first).start()

    assert engine.offered == ["a"]
    assert engine.instance.head.process_definition_key == second
    assert engine.rows.get(entities.ProcessDefinition, second).is_latest_version


def test_nothing_begins_with_a_deleted_version(engine: Scenario) -> None:
    engine.deploy(order("a"))
    (key,) = version_keys(engine)
    delete(engine, key)

    refused = [
        engine.refusal(
            process_instance_commands.CreateProcessInstance(tenant_id="default", process_definition_key=key)
        ),
        engine.refusal(
            process_instance_commands.CreateProcessInstance(
                tenant_id="default", process_definition_id="order"
            )
        ),
        engine.refusal(
            process_instance_commands.CreateProcessInstance(
                tenant_id="default", process_definition_id="order", version=1
            )
        ),
        engine.refusal(DeleteResource("default", key)),
        engine.refusal(DeleteResource("default", Key(42))),
    ]

    assert {each.type for each in refused} == {RejectionType.NOT_FOUND}
    assert refused[-1].reason == "no resource with key 42"


def test_nothing_is_migrated_to_a_deleted_version(engine: Scenario) -> None:
    engine.deploy(order("a")).start().deploy(order("b"))
    migration = engine.migration("order", {"a": "a"})
    delete(engine, version_keys(engine)[1])

    assert engine.refusal(migration).type is RejectionType.NOT_FOUND


def test_numbers_are_not_used_again(engine: Scenario) -> None:
    engine.deploy(order("a")).deploy(order("b"))
    delete(engine, version_keys(engine)[1])

    again = engine.deployment(order("b"))
    unchanged = engine.deployment(order("b"))

    assert [each.definitions[0].version for each in (again, unchanged)] == [3, 3]


def test_a_version_tag_leads_to_the_version_before(engine: Scenario) -> None:
    engine.deploy(order("a", tag="stable")).deploy(order("b", tag="stable"))
    calling = process("caller").start()
    calling.call_activity("call", process="order", binding="versionTag", version_tag="stable").end()
    delete(engine, version_keys(engine)[1])

    engine.deploy(calling).start()

    assert engine.state.instances[engine.element("call").called_key].head.version == 1


def test_a_call_of_a_deleted_process_is_an_incident(engine: Scenario) -> None:
    engine.deploy(order("a"))
    (key,) = version_keys(engine)
    engine.deploy(process("caller").start().call_activity("call", process="order").end())

    delete(engine, key).start()

    assert engine.incident.error_type == "CALLED_ELEMENT_ERROR"


def begun_by(trigger: str, job_type: str, name: str = "ordered") -> ProcessBuilder:
    builder = process("order")
    if trigger == "message":
        builder.start_message("begun", message=name)
    else:
        builder.start_signal("begun", signal=name)
    return builder.service_task("a", type=job_type).end()


def running(engine: Scenario) -> list[int]:
    return [each.head.version for each in engine.state.instances.values()]


@pytest.mark.parametrize("trigger", ["message", "signal"])
def test_start_events_of_the_version_before_wait_again(engine: Scenario, trigger: str) -> None:
    engine.deploy(begun_by(trigger, "a")).deploy(begun_by(trigger, "b", name="other"))
    first, second = version_keys(engine)
    send = engine.publish if trigger == "message" else engine.broadcast
    send("ordered")
    before = running(engine)

    delete(engine, second)
    send("ordered")
    send("other")

    assert (before, running(engine)) == ([], [1])
    delete(engine, first)
    send("ordered")
    assert running(engine) == [1]
    engine.expect_laws()


def test_timers_of_the_version_before_count_from_the_deletion(engine: Scenario) -> None:
    every = process("order").start_timer("begun", cycle="R/PT10M").service_task("a", type="a").end()
    once = process("order").start_timer("begun", duration="PT1H").service_task("b", type="b").end()
    engine.deploy(every).deploy(once)
    first, second = version_keys(engine)
    engine.advance(5 * MINUTE)

    delete(engine, second).advance(9 * MINUTE)

    assert running(engine) == []
    assert running(engine.advance(MINUTE)) == [1]
    delete(engine, first).advance(timedelta(hours=2))
    assert running(engine) == [1]
    assert engine.state.start_timers.timers == {}
    engine.expect_laws()


def test_a_deletion_of_an_earlier_version_leaves_the_timers_alone(engine: Scenario) -> None:
    cycle = process("order").start_timer("begun", cycle="R/PT10M").service_task("b", type="b").end()
    engine.deploy(order("a")).deploy(cycle).advance(5 * MINUTE)

    delete(engine, version_keys(engine)[0]).advance(5 * MINUTE)

    assert running(engine) == [2]


# Decisions


def test_a_decision_falls_back_to_the_version_before(engine: Scenario) -> None:
    (first,) = deployed(engine, graph(answering("price", "1")))
    (second,) = deployed(engine, graph(answering("price", "2")))
    evaluation = decision_commands.EvaluateDecision(tenant_id="default", decision_definition_id="price")

    delete(engine, second.key)

    assert cast("DecisionResult", engine.execute(evaluation)).evaluation.output == "1"
    rows = [engine.rows.get(entities.DecisionDefinition, each.decisions[0].key) for each in (first, second)]
    assert [(row.is_latest_version, row.is_deleted) for row in rows] == [(True, False), (False, True)]
    assert engine.rows.get(entities.DecisionRequirements, second.key).is_deleted
    engine.expect_laws()


def test_a_decision_without_versions_is_unknown_and_keeps_its_numbers(engine: Scenario) -> None:
    (only,) = deployed(engine, graph(answering("price", "1")))
    evaluation = decision_commands.EvaluateDecision(tenant_id="default", decision_definition_id="price")

    delete(engine, only.key)

    assert engine.refusal(evaluation).type is RejectionType.NOT_FOUND
    assert engine.refusal(DeleteResource("default", only.key)).type is RejectionType.NOT_FOUND
    (again,) = deployed(engine, graph(answering("price", "1")))
    assert (again.version, again.decisions[0].version) == (2, 2)
    engine.expect_laws()


# Other partitions


def test_another_partition_adopts_a_deletion_once(engine: Scenario) -> None:
    engine.deploy(begun_by("message", "a")).deploy(begun_by("message", "b"))
    deployed(engine, graph(answering("price", "1")))
    other = State(2)
    kinds = (events.ProcessDefinitionDeployed, DecisionRequirementsDeployed)
    happened = [event for event in engine.events if isinstance(event, kinds)]
    for event in happened:
        handle(other, AdoptDefinition(event), EPOCH)
    for event in happened[1:]:
        delete(engine, event.key)
    sent = [event.command for event in engine.events if isinstance(event, CommandSent)]

    for command in (*sent, *sent):
        handle(other, command, EPOCH)

    assert sent == [AdoptDeletion("default", event.key) for event in happened[1:]]
    assert (other.definitions, other.versions) == (engine.state.definitions, engine.state.versions)
    assert (other.starts, other.decisions) == (engine.state.starts, engine.state.decisions)
    assert other.numbers == engine.state.numbers
    handle(other, AdoptDefinition(happened[1]), EPOCH)
    assert other.versions == engine.state.versions
