"""Business rule tasks that call a decision."""

import pytest

from server.bpmn.builder import ProcessBuilder, process
from server.engine.deployment_commands import DecisionModel, DeleteResource, DeployResources
from server.engine.incidents import ErrorType
from server.engine.lifecycle import ElementState
from server.engine.limits import EngineLimits
from server.feel.limits import CHARACTERS_PER_STEP
from server.partition.config import DialectChoice
from server.store.entities import (
    DecisionDefinition,
    DecisionInstance,
    DecisionInstanceState,
    DecisionRequirements,
    ElementInstance,
)
from tests.server.dmn.models import decision, literal, table
from tests.server.engine.graphs import DISCOUNT, answering, graph
from tests.server.engine.scenario import Scenario, resource


def rated(decision_id: str = "discount", **attributes: object) -> ProcessBuilder:
    """A business rule task `rate`, with a task `correct` at its side."""
    builder = process("order").decision_task("rate", decision=decision_id, result="percent", **attributes)  # type: ignore[arg-type]
    return builder.end().branch("start").service_task("correct", type="correct").end()


def deploy(engine: Scenario, *models: DecisionModel | ProcessBuilder) -> Scenario:
    """All in one deployment."""
    resources = tuple(resource(each) for each in models if isinstance(each, ProcessBuilder))
    graphs = tuple(each for each in models if isinstance(each, DecisionModel))
    engine.execute(DeployResources(engine.tenant_id, resources, graphs))
    return engine


def test_the_output_of_the_decision_becomes_a_variable(engine: Scenario) -> None:
    deploy(engine, graph(*DISCOUNT), rated())

    engine.start("order", customer="regular", amount=120)

    assert engine.variables() == {"customer": "regular", "amount": 120, "percent": 10}
    assert "rate" in engine.path


def test_the_decision_sees_the_input_mappings_of_the_task(engine: Scenario) -> None:
    deploy(engine, graph(*DISCOUNT), rated(inputs={"customer": '="new"', "amount": "=sum"}))

    engine.start("order", sum=1)

    assert engine.variables() == {"sum": 1, "percent": 0}


def test_output_mappings_decide_what_the_scope_around_gets(engine: Scenario) -> None:
    deploy(engine, graph(answering("discount", "7")), rated(outputs={"rate": "=percent + 1"}))

    engine.start("order")

    assert engine.variables() == {"rate": 8}


def test_every_decision_is_recorded_with_its_element_instance(engine: Scenario) -> None:
    deploy(engine, graph(*DISCOUNT), rated()).start("order", customer="new", amount=1)

    level, discount = sorted(engine.rows.all(DecisionInstance), key=lambda row: row.decision_instance_key)
    (task,) = [row for row in engine.rows.all(ElementInstance) if row.element_id == "rate"]
    assert (level.decision_definition_id, discount.decision_definition_id) == ("level", "discount")
    for row in (level, discount):
        assert row.process_instance_key == engine.instance_key
        assert row.process_definition_key == task.process_definition_key
        assert row.element_instance_key == task.element_instance_key
        assert row.root_process_instance_key == engine.instance_key


def test_an_expression_names_the_decision(engine: Scenario) -> None:
    deploy(engine, graph(answering("a", "1"), answering("b", "2")), rated("=which"))

    engine.start("order", which="b")

    assert engine.variables()["percent"] == 2


def test_an_expression_that_gives_no_text_is_an_incident(engine: Scenario) -> None:
    deploy(engine, graph(answering("a", "1")), rated("=which"))

    engine.start("order", which=1)

    assert (engine.incident.element_id, engine.incident.error_type) == ("rate", ErrorType.EXTRACT_VALUE_ERROR)


def test_a_decision_that_is_not_there_is_an_incident_until_it_is_deployed(engine: Scenario) -> None:
    deploy(engine, rated()).start("order")
    incident = engine.incident

    deploy(engine, graph(answering("discount", "3")))
    engine.resolve()

    assert incident.error_type is ErrorType.CALLED_DECISION_ERROR
    assert "no decision found for id 'discount'" in incident.message
    assert engine.variables()["percent"] == 3


def test_a_decision_of_another_tenant_is_not_called(engine: Scenario) -> None:
    engine.execute(DeployResources("other", (), (graph(answering("discount", "3")),)))

    deploy(engine, rated()).start("order")

    assert engine.incident.error_type is ErrorType.CALLED_DECISION_ERROR


def test_a_decision_that_fails_is_an_incident_and_is_recorded(engine: Scenario) -> None:
    both = table(["x"], ["out"], ["1", "1"], ["-", "2"])
    model = graph(decision("discount", both), dialect=DialectChoice.CAMUNDA)
    deploy(engine, model, rated()).start("order", x=1)
    incident = engine.incident

    engine.complete("correct", x=2).resolve()

    assert incident.error_type is ErrorType.DECISION_EVALUATION_ERROR
    assert incident.message.startswith("Expected to evaluate decision 'discount', but ")
    failed, evaluated = sorted(engine.rows.all(DecisionInstance), key=lambda row: row.decision_instance_key)
    assert (failed.state, failed.evaluation_failure) == (DecisionInstanceState.FAILED, incident.message)
    assert failed.element_instance_key == evaluated.element_instance_key
    assert engine.variables()["percent"] == 2


def test_a_decision_shares_the_budget_of_its_element(engine: Scenario) -> None:
    endless = literal("count(for x in 1..1000000 return x * x)")
    deploy(engine, graph(decision("discount", endless)), rated())

    engine.start("order")

    assert engine.incident.error_type is ErrorType.DECISION_EVALUATION_ERROR
    assert "too many steps" in engine.incident.message
    assert engine.element("rate").state is ElementState.ACTIVATING


def test_variables_that_are_too_large_to_read_are_an_incident() -> None:
    engine = Scenario(limits=EngineLimits(element_steps=1_000))
    deploy(engine, graph(answering("discount", "3")), rated())

    engine.start("order", large="x" * 1_001 * CHARACTERS_PER_STEP)

    assert engine.incident.error_type is ErrorType.DECISION_EVALUATION_ERROR


# Bindings


def test_the_latest_version_is_called(engine: Scenario) -> None:
    deploy(engine, graph(answering("discount", "1")), rated())
    deploy(engine, graph(answering("discount", "2")))

    engine.start("order")

    assert engine.variables()["percent"] == 2


def tagged(text: str, *, of_file: str = "", of_decision: str = "") -> DecisionModel:
    """A graph with a decision, and tags of the versions."""
    return graph(_tag(of_file), decision("discount", _tag(of_decision) + literal(text)))


def _tag(value: str) -> str:
    zeebe = 'xmlns:zeebe="http://camunda.org/schema/zeebe/1.0"'
    tag = f'<zeebe:versionTag {zeebe} value="{value}"/>' if value else ""
    return f"<extensionElements>{tag}</extensionElements>"


@pytest.mark.parametrize("place", ["of_file", "of_decision"])
def test_a_version_tag_names_the_latest_version_with_it(engine: Scenario, place: str) -> None:
    for text, tag in (("1", "old"), ("2", "stable"), ("3", "stable"), ("4", "new"), ("5", "")):
        deploy(engine, tagged(text, **{place: tag}))

    deploy(engine, rated(binding="versionTag", version_tag="stable")).start("order")

    assert engine.variables()["percent"] == 3


def test_the_tag_of_a_decision_goes_before_that_of_its_file(engine: Scenario) -> None:
    deploy(engine, tagged("1", of_file="file", of_decision="own"))
    deploy(engine, tagged("2", of_file="file"))

    deploy(engine, rated(binding="versionTag", version_tag="own")).start("order")

    assert engine.variables()["percent"] == 1


def test_a_version_tag_that_no_decision_has_is_an_incident_until_one_is_deployed(engine: Scenario) -> None:
    deploy(engine, tagged("1", of_decision="old")).deploy(rated(binding="versionTag", version_tag="new"))
    engine.start("order")

    assert engine.incident.error_type is ErrorType.CALLED_DECISION_ERROR
    assert engine.incident.message == (
        "Expected to evaluate decision 'discount' with version tag 'new', but no such decision found."
        " To resolve this incident, deploy a decision with the given id and version tag."
    )

    deploy(engine, tagged("7", of_decision="new")).resolve()
    assert engine.variables()["percent"] == 7


def test_a_deleted_version_is_not_found_by_its_tag(engine: Scenario) -> None:
    deploy(engine, tagged("1", of_decision="stable"), rated(binding="versionTag", version_tag="stable"))
    deploy(engine, tagged("2", of_decision="stable"))
    (_, latest) = engine.rows.all(DecisionRequirements)

    engine.execute(DeleteResource(engine.tenant_id, latest.decision_requirements_key))

    assert engine.start("order").variables()["percent"] == 1


def test_binding_to_the_deployment_means_the_version_that_came_with_it(engine: Scenario) -> None:
    deploy(engine, graph(answering("discount", "1")), rated(binding="deployment"))
    deploy(engine, graph(answering("discount", "2")))

    engine.start("order")

    assert engine.variables()["percent"] == 1


def test_a_process_bound_to_its_deployment_gets_a_version_with_what_changes_beside_it(
    engine: Scenario,
) -> None:
    deploy(engine, graph(answering("discount", "1")), rated(binding="deployment"))
    deploy(engine, graph(answering("discount", "2")), rated(binding="deployment"))

    engine.start("order")

    assert engine.variables()["percent"] == 2
    assert engine.instance.head.version == 2


def test_nothing_gets_a_version_when_nothing_changed(engine: Scenario) -> None:
    deploy(engine, graph(answering("discount", "1")), rated(binding="deployment"))
    deploy(engine, graph(answering("discount", "1")), rated(binding="deployment"))

    engine.start("order")

    assert engine.instance.head.version == 1


def test_an_unchanged_decision_gets_a_version_beside_a_new_process_that_is_bound_to_its_deployment(
    engine: Scenario,
) -> None:
    deploy(engine, graph(answering("discount", "1")))
    deploy(engine, graph(answering("discount", "1")), rated(binding="deployment"))

    engine.start("order")

    assert engine.variables()["percent"] == 1
    assert [row.version for row in engine.rows.all(DecisionDefinition)] == [1, 2]


def test_an_unchanged_decision_keeps_its_version_beside_other_processes(engine: Scenario) -> None:
    deploy(engine, graph(answering("discount", "1")))
    deploy(engine, graph(answering("discount", "1")), rated())

    assert [row.version for row in engine.rows.all(DecisionDefinition)] == [1]


def test_a_decision_that_was_deployed_before_its_process_is_not_bound_to_it(engine: Scenario) -> None:
    deploy(engine, graph(answering("discount", "1")))
    deploy(engine, rated(binding="deployment")).start("order")

    deployment_key = engine.state.definition_of(engine.instance).deployment_key
    assert engine.incident.error_type is ErrorType.CALLED_DECISION_ERROR
    assert engine.incident.message == (
        "Expected to evaluate decision 'discount' with binding type 'deployment', but no such decision found in the"
        f" deployment with key {deployment_key} which contained the current process. To resolve this incident, migrate"
        " the process instance to a process definition that is deployed together with the intended decision to"
        " evaluate."
    )


def test_a_decision_that_was_deployed_later_than_its_process_is_not_bound_to_it(engine: Scenario) -> None:
    deploy(engine, rated(binding="deployment"))
    deploy(engine, graph(answering("discount", "1")))

    engine.start("order")

    assert engine.incident.error_type is ErrorType.CALLED_DECISION_ERROR


def test_an_active_business_rule_task_is_migrated(engine: Scenario) -> None:
    deploy(engine, rated(), graph(answering("other", "5"))).start("order")
    new = process("new").decision_task("rating", decision="other", result="percent").end()
    deploy(engine, new.branch("start").service_task("correct", type="correct").end())

    engine.migrate("new", {"rate": "rating", "correct": "correct"}).resolve()

    assert engine.variables() == {"percent": 5}
