"""Cluster variables of all tenants and of one, and what expressions see of them."""

import json
from datetime import timedelta
from typing import Any

import pytest

from server.bpmn.builder import ProcessBuilder, event_sub_process, process, sub_process
from server.engine import process as handle
from server.engine.answers import ChangedClusterVariable, DecisionResult, EvaluatedConditionals
from server.engine.cluster_variable_commands import (
    AdoptClusterVariable,
    AdoptClusterVariableDeletion,
    CreateClusterVariable,
    DeleteClusterVariable,
    UpdateClusterVariable,
)
from server.engine.cluster_variable_events import ClusterVariableSet
from server.engine.cluster_variables import MOST_CONTEXTS
from server.engine.commands import Command
from server.engine.decision_commands import EvaluateDecision
from server.engine.deployment_commands import DeployResources
from server.engine.handlers import HANDLERS
from server.engine.keys import Key
from server.engine.limits import EngineLimits
from server.engine.rejection import Rejected, RejectionType
from server.engine.sent import EVERY_OTHER, CommandSent
from server.engine.signal_commands import EvaluateConditionals
from server.engine.step import Step
from server.engine.variables import CACHED_TEXT_LENGTH
from server.partition.config import DialectChoice
from tests.durable import EPOCH
from tests.server.engine.graphs import answering, graph
from tests.server.engine.scenario import Scenario, resource


def create(engine: Scenario, name: str, value: object, *, is_global: bool = False) -> Key:
    answer = engine.execute(
        CreateClusterVariable(engine.tenant_id, name, json.dumps(value), is_global=is_global)
    )
    assert isinstance(answer, ChangedClusterVariable)
    return answer.key


def update(engine: Scenario, name: str, value: object, *, is_global: bool = False) -> None:
    engine.execute(UpdateClusterVariable(engine.tenant_id, name, json.dumps(value), is_global=is_global))


def result(engine: Scenario, expression: str, **variables: object) -> object:
    """The value that a script has in a process instance that begins now."""
    waiting = (
        process("p")
        .start()
        .script_task("script", expression=expression, result="result")
        .service_task("wait", type="wait")
        .end()
    )
    engine.deploy(waiting).start(**variables)
    return engine.variables()["result"]


def sent(engine: Scenario) -> list[Command]:
    """What the last command told all other partitions."""
    found = [event for event in engine.last_events if isinstance(event, CommandSent)]
    assert all(each.partition_id == EVERY_OTHER for each in found)
    return [each.command for each in found]


def test_expressions_see_variables_of_all_tenants_and_of_their_own(engine: Scenario) -> None:
    create(engine, "url", "https://all", is_global=True)
    create(engine, "limit", 10)

    assert result(engine, "=camunda.vars.cluster.url") == "https://all"
    assert result(engine, "=camunda.vars.tenant.limit + 1") == 11
    assert result(engine, "=[camunda.vars.cluster.limit, camunda.vars.tenant.url]") == [None, None]


def test_the_environment_prefers_the_variable_of_the_tenant(engine: Scenario) -> None:
    create(engine, "url", "https://all", is_global=True)
    create(engine, "timeout", {"ms": 5}, is_global=True)

    create(engine, "url", "https://own")

    assert result(engine, "=[camunda.vars.env.url, camunda.vars.env.timeout.ms]") == ["https://own", 5]
    assert result(engine, "=camunda.vars.cluster.url") == "https://all"


def test_a_tenant_does_not_see_variables_of_another_one(engine: Scenario) -> None:
    engine.execute(CreateClusterVariable("other", "secret", "1"))

    assert result(engine, "=[camunda.vars.tenant.secret, camunda.vars.env.secret]") == [None, None]


def test_evaluations_see_the_latest_value(engine: Scenario) -> None:
    create(engine, "rate", 1, is_global=True)
    assert result(engine, "=camunda.vars.env.rate") == 1

    update(engine, "rate", 2, is_global=True)
    assert result(engine, "=camunda.vars.env.rate") == 2

    create(engine, "rate", 3)
    assert result(engine, "=camunda.vars.env.rate") == 3

    engine.execute(DeleteClusterVariable(engine.tenant_id, "rate"))
    assert result(engine, "=camunda.vars.env.rate") == 2

    engine.execute(DeleteClusterVariable(engine.tenant_id, "rate", is_global=True))
    assert result(engine, "=camunda.vars.env.rate") is None


def test_a_process_variable_of_that_name_hides_them_all(engine: Scenario) -> None:
    create(engine, "url", "https://all", is_global=True)

    found = result(engine, "=camunda.vars.env.url", camunda={"vars": {"env": {}}})

    assert found is None


def test_deployments_and_conditions_of_start_events_see_them(engine: Scenario) -> None:
    create(engine, "topic", "orders")
    by_message = process("p").start_message("start", message="=camunda.vars.tenant.topic").end()

    engine.deploy(by_message)

    (start,) = next(iter(engine.state.definitions.values())).starts
    assert start.message_name == "orders"


def test_a_start_event_without_its_cluster_variable_refuses_the_deployment(engine: Scenario) -> None:
    by_message = process("p").start_message("start", message="=camunda.vars.tenant.topic").end()

    refused = engine.refusal(DeployResources(engine.tenant_id, (resource(by_message),)))

    assert refused.type is RejectionType.INVALID_ARGUMENT


def test_called_decisions_see_them(engine: Scenario) -> None:
    create(engine, "rate", 7)
    model = graph(answering("price", "camunda.vars.env.rate * 2"), dialect=DialectChoice.CAMUNDA)
    task = process("p").start().decision_task("price", decision="price", result="price")
    waiting = task.service_task("wait", type="wait").end()
    engine.execute(DeployResources(engine.tenant_id, (resource(waiting),), (model,)))

    engine.start("p")
    answer = engine.execute(EvaluateDecision(tenant_id=engine.tenant_id, decision_definition_id="price"))

    assert engine.variables() == {"price": 14}
    assert isinstance(answer, DecisionResult)
    assert answer.evaluation.output == "14"


def test_conditional_start_events_see_them(engine: Scenario) -> None:
    create(engine, "limit", 5)
    engine.deploy(process("p").start_condition("start", condition="=amount > camunda.vars.env.limit").end())

    found = [
        engine.execute(EvaluateConditionals(engine.tenant_id, {"amount": amount})) for amount in ("5", "6")
    ]

    assert [len(each.heads) for each in found if isinstance(each, EvaluatedConditionals)] == [0, 1]


def test_a_name_is_there_once_in_each_scope(engine: Scenario) -> None:
    create(engine, "url", 1)
    create(engine, "url", 1, is_global=True)
    engine.execute(CreateClusterVariable("other", "url", "1"))

    for is_global in (False, True):
        again = CreateClusterVariable(engine.tenant_id, "url", "2", is_global=is_global)
        assert engine.refusal(again).type is RejectionType.ALREADY_EXISTS


@pytest.mark.parametrize("is_global", [False, True])
def test_a_variable_that_is_not_there_cannot_change(engine: Scenario, *, is_global: bool) -> None:
    create(engine, "url", 1, is_global=not is_global)
    engine.execute(CreateClusterVariable("other", "key", "1"))
    commands = [
        UpdateClusterVariable(engine.tenant_id, "url", "2", is_global=is_global),
        DeleteClusterVariable(engine.tenant_id, "url", is_global=is_global),
        UpdateClusterVariable(engine.tenant_id, "key", "2"),
    ]

    assert {engine.refusal(each).type for each in commands} == {RejectionType.NOT_FOUND}


def test_a_scope_has_a_bounded_number_of_variables() -> None:
    engine = Scenario(limits=EngineLimits(cluster_variables=2))
    create(engine, "a", 1)
    create(engine, "b", 1)
    create(engine, "a", 1, is_global=True)

    refused = engine.refusal(CreateClusterVariable(engine.tenant_id, "c", "1"))

    assert refused.type is RejectionType.INVALID_STATE
    engine.execute(DeleteClusterVariable(engine.tenant_id, "a"))
    create(engine, "c", 1)


def test_a_scope_has_a_bounded_number_of_characters() -> None:
    engine = Scenario(limits=EngineLimits(cluster_variable_characters=10))
    create(engine, "ab", "xxxxxx")

    refusals = [
        engine.refusal(CreateClusterVariable(engine.tenant_id, "c", "1")),
        engine.refusal(UpdateClusterVariable(engine.tenant_id, "ab", '"xxxxxxx"')),
    ]

    assert [each.type for each in refusals] == [RejectionType.INVALID_ARGUMENT] * 2
    update(engine, "ab", "xxxxx")
    update(engine, "ab", "yyyyyy")


def test_an_expression_that_repeats_them_is_an_incident(engine: Scenario) -> None:
    for number in range(20):
        create(engine, f"text{number}", "x" * 30_000)
    task = (
        process("p").start().script_task("script", expression="=for i in 1..1000 return camunda", result="r")
    )

    engine.deploy(task.end()).start()

    assert "steps" in engine.incident.message


class TestOtherPartitions:
    """They hear of every change, and may hear of it late or twice."""

    def test_learn_of_each_change(self, engine: Scenario) -> None:
        other = Scenario()
        for command in (
            CreateClusterVariable("default", "url", "1"),
            UpdateClusterVariable("default", "url", "2"),
        ):
            engine.execute(command)
            for each in sent(engine):
                other.execute(each)
        assert result(other, "=camunda.vars.tenant.url") == 2

        engine.execute(DeleteClusterVariable("default", "url"))
        for each in sent(engine):
            other.execute(each)

        assert other.state.cluster_variables == engine.state.cluster_variables
        assert result(other, "=camunda.vars.tenant.url") is None

    def test_keep_the_later_value_and_the_later_variable(self, engine: Scenario) -> None:
        first = ClusterVariableSet(Key(5), None, "url", "1")
        second = ClusterVariableSet(Key(5), None, "url", "2", revision=2)
        again = ClusterVariableSet(Key(9), None, "url", "3")
        for late in (second, first, again, first):
            engine.execute(AdoptClusterVariable("default", late))

        engine.execute(AdoptClusterVariableDeletion("default", second))

        assert engine.state.cluster_variables.get(None, "url") == again
        engine.execute(AdoptClusterVariableDeletion("default", again))
        engine.execute(AdoptClusterVariableDeletion("default", again))
        assert engine.state.cluster_variables.get(None, "url") is None


def test_a_change_that_is_taken_back_leaves_no_trace() -> None:
    engine = Scenario()
    create(engine, "a", 1)
    before, known = engine.state.cluster_variables.context("default"), engine.state.cluster_variables
    state = engine.state

    state.begin()
    for command in (
        CreateClusterVariable("default", "b", "2"),
        UpdateClusterVariable("default", "a", "3"),
        DeleteClusterVariable("default", "a"),
    ):
        HANDLERS[type(command)](command, Step(state, EPOCH))
    state.journal.roll_back()

    assert known.context("default") == before
    assert known.size("default") == 2


def test_contexts_of_many_tenants_are_not_kept_and_are_right(engine: Scenario) -> None:
    known = engine.state.cluster_variables
    for number in range(MOST_CONTEXTS + 10):
        engine.execute(CreateClusterVariable(f"t{number}", "n", str(number)))

    found = [known.context(f"t{number}") for number in range(MOST_CONTEXTS + 10)]

    assert len(known._contexts) == MOST_CONTEXTS  # noqa: SLF001  # what is kept shows nowhere else
    assert known.context("t0") == found[0] == {"vars": {"cluster": {}, "tenant": {"n": 0}, "env": {"n": 0}}}


def test_expressions_that_name_none_read_none(engine: Scenario) -> None:
    create(engine, "rate", 1)
    create(engine, "rate", 2, is_global=True)

    assert result(engine, "=if a = 1 then a + 1 else b", a=1) == 2

    known = engine.state.cluster_variables
    assert not known._contexts  # noqa: SLF001  # what is decoded shows nowhere else
    assert not known._values  # noqa: SLF001


def test_a_change_decodes_its_own_value_alone(engine: Scenario) -> None:
    """The other value is too long for the cache of decoded texts."""
    create(engine, "long", ["x" * CACHED_TEXT_LENGTH])
    create(engine, "rate", 1)
    before = environment(engine)["long"]

    update(engine, "rate", 2)

    assert environment(engine)["rate"] == 2
    assert environment(engine)["long"] is before


def environment(engine: Scenario) -> dict[str, Any]:
    context: dict[str, Any] = engine.state.cluster_variables.context("default")
    found: dict[str, Any] = context["vars"]["env"]
    return found


# Conditions that wait


def delete(engine: Scenario, name: str, *, is_global: bool = False) -> None:
    engine.execute(DeleteClusterVariable(engine.tenant_id, name, is_global=is_global))


def waiting(condition: str, process_id: str = "p", **chosen: str) -> ProcessBuilder:
    return process(process_id).condition_catch("wait", condition=condition, **chosen).end("done")


@pytest.mark.parametrize("is_global", [True, False])
def test_a_condition_that_waits_is_evaluated_when_a_cluster_variable_is_created_or_changed(
    engine: Scenario, *, is_global: bool
) -> None:
    engine.deploy(waiting("=camunda.vars.env.rate > 5")).start()

    create(engine, "rate", 5, is_global=is_global)
    assert engine.is_running

    update(engine, "rate", 6, is_global=is_global)
    assert engine.path == ["start", "wait", "done"]
    assert engine.state.signals.broadcasts == {}
    assert engine.state.signals.conditions == {}


def test_a_condition_that_waits_is_evaluated_when_a_cluster_variable_is_deleted(engine: Scenario) -> None:
    create(engine, "closed", value=True)
    engine.deploy(waiting("=camunda.vars.tenant.closed = null")).start()
    assert engine.is_running

    delete(engine, "closed")

    assert engine.is_completed


def test_a_boundary_event_and_an_event_sub_process_wait_for_cluster_variables(engine: Scenario) -> None:
    help_ = event_sub_process("help").start_condition(
        "stop", condition="=camunda.vars.tenant.stop", is_interrupting=False
    )
    inside = sub_process("inside").start().service_task("ship", type="ship").end()
    builder = process("p").start().embed(inside.beside(help_.service_task("mend", type="mend").end()))
    builder = builder.boundary_condition(
        "guard", on="inside", condition="=camunda.vars.tenant.stop", is_interrupting=False
    )
    engine.deploy(builder.service_task("tell", type="tell").end()).start()

    create(engine, "stop", value=True)

    assert sorted(engine.offered) == ["mend", "ship", "tell"]


@pytest.mark.parametrize(
    ("read", "name", "is_global", "is_read"),
    [
        pytest.param("tenant.a", "a", False, True, id="its own"),
        pytest.param("tenant.a", "b", False, False, id="another name"),
        pytest.param("cluster.a", "a", False, False, id="another place"),
        pytest.param("tenant.a", "a", True, False, id="of all tenants"),
        pytest.param("env", "b", True, True, id="all of them"),
    ],
)
def test_only_a_cluster_variable_that_the_condition_reads_has_it_evaluated(
    engine: Scenario, read: str, name: str, *, is_global: bool, is_read: bool
) -> None:
    """The condition is always true, so each evaluation triggers the event."""
    builder = process("p").service_task("ship", type="ship").end()
    builder = builder.boundary_condition(
        "guard", on="ship", condition=f"=[camunda.vars.{read}] != []", is_interrupting=False
    ).end("told")
    engine.deploy(builder).start()
    assert engine.path.count("told") == 1

    create(engine, name, value=True, is_global=is_global)

    assert engine.path.count("told") == 1 + is_read


def test_a_variable_of_the_tenant_hides_changes_of_the_one_of_all_tenants(engine: Scenario) -> None:
    create(engine, "rate", 1)
    engine.deploy(waiting("=camunda.vars.env.rate > 5 or go")).start(go=False)

    create(engine, "rate", 9, is_global=True)
    assert engine.is_running

    delete(engine, "rate")
    assert engine.is_completed


def test_a_process_variable_of_that_name_keeps_conditions_from_cluster_variables(engine: Scenario) -> None:
    engine.deploy(waiting("=camunda.vars.env.rate > 5")).start(camunda={})

    create(engine, "rate", 9)

    assert engine.is_running


@pytest.mark.parametrize(("change", "waits"), [("create", True), ("update", False)])
def test_a_filter_chooses_the_changes_of_cluster_variables(
    engine: Scenario, change: str, *, waits: bool
) -> None:
    create(engine, "rate", 1)
    engine.deploy(waiting("=camunda.vars.env.rate > 5", changes=change)).start()

    update(engine, "rate", 9)

    assert engine.is_running is waits


def test_a_filter_without_cluster_variables_leaves_out_their_changes(engine: Scenario) -> None:
    engine.deploy(waiting("=camunda.vars.env.rate > x", names="x")).start(x=1)

    create(engine, "rate", 9)

    assert engine.is_running
    assert engine.state.signals.conditions == {}


def test_a_change_meets_no_condition_of_another_tenant(engine: Scenario) -> None:
    engine.deploy(waiting("=camunda.vars.env.rate > 5")).start()

    engine.execute(CreateClusterVariable("other", "rate", "9"))

    assert engine.is_running


def test_a_global_change_meets_the_conditions_of_all_tenants(engine: Scenario) -> None:
    engine.deploy(waiting("=camunda.vars.env.rate > 5")).start()

    engine.execute(CreateClusterVariable("other", "rate", "9", is_global=True))

    assert engine.is_completed


def test_a_change_that_another_partition_made_meets_conditions_here() -> None:
    engine = Scenario().deploy(waiting("=camunda.vars.env.rate > 5")).start()
    variable = ClusterVariableSet(Key(7), None, "rate", "9")

    engine.execute(AdoptClusterVariable("default", variable))

    assert engine.is_completed


def test_a_migrated_condition_waits_for_the_cluster_variables_of_the_target(engine: Scenario) -> None:
    engine.deploy(waiting("=camunda.vars.env.rate > 5", "q"), waiting("=x > 5")).start("p", x=1)
    assert engine.state.signals.conditions == {}

    engine.migrate("q", {"wait": "wait"})
    create(engine, "rate", 9)

    assert engine.is_completed


def test_a_change_evaluates_many_conditions_in_slices() -> None:
    """A turn evaluates a hundred of them."""
    scenario = Scenario().deploy(waiting("=camunda.vars.env.rate > 5"))
    for _ in range(250):
        scenario.start()
    command = CreateClusterVariable("default", "rate", "9")

    scenario.happens(handle(scenario.state, command, scenario.now).events)
    assert len(scenario.state.instances) == 150

    scenario.advance(timedelta())
    assert scenario.state.instances == {}
    assert scenario.state.signals.broadcasts == {}
    scenario.expect_laws()


def test_changes_are_refused_while_conditions_of_too_many_are_evaluated() -> None:
    scenario = Scenario(limits=EngineLimits(tenant_broadcasts=1, slice_steps=1))
    scenario.deploy(waiting("=camunda.vars.env.rate > 5"))
    for _ in range(3):
        scenario.start()
    scenario.happens(
        handle(scenario.state, CreateClusterVariable("default", "rate", "1"), scenario.now).events
    )
    assert len(scenario.state.signals.broadcasts) == 1

    command = UpdateClusterVariable("default", "rate", "2")
    with pytest.raises(Rejected) as refused:
        handle(scenario.state, command, scenario.now)

    assert refused.value.type is RejectionType.BUSY
    assert refused.value.reason == "1 broadcasts of the tenant are not finished"
