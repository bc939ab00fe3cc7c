from typing import cast

import pytest

from server.engine.answers import DeployedRequirements, Deployment
from server.engine.deployment_commands import DecisionModel, DeployResources
from server.store.entities import DecisionDefinition, DecisionRequirements
from tests.server.engine.graphs import answering, graph
from tests.server.engine.scenario import Scenario


def deployed(engine: Scenario, *models: DecisionModel) -> tuple[DeployedRequirements, ...]:
    answer = cast("Deployment", engine.execute(DeployResources(engine.tenant_id, (), models)))
    return answer.requirements


def latest(engine: Scenario) -> dict[str, int]:
    """Versions of the decisions that rows call the latest."""
    rows = engine.rows.all(DecisionDefinition)
    return {row.decision_definition_id: row.version for row in rows if row.is_latest_version}


ONE = graph(answering("a", "1"), answering("b", "1"))
TWO = graph(answering("a", "2"), answering("b", "1"))


def test_a_graph_is_deployed_with_all_its_decisions(engine: Scenario) -> None:
    (found,) = deployed(engine, ONE)

    assert (found.decision_requirements_id, found.name, found.version) == ("pricing", "pricing", 1)
    assert [(each.decision_definition_id, each.version) for each in found.decisions] == [("a", 1), ("b", 1)]
    row = engine.rows.get(DecisionRequirements, found.key)
    assert (row.decision_requirements_name, row.resource_name) == ("pricing", "pricing.dmn")
    assert row.xml == ONE.content.decode()
    first = engine.rows.get(DecisionDefinition, found.decisions[0].key)
    assert (first.name, first.decision_requirements_key) == ("a", found.key)
    assert len({found.key, *(each.key for each in found.decisions)}) == 3


def test_changed_content_is_a_new_version_of_the_graph_and_of_every_decision(engine: Scenario) -> None:
    deployed(engine, ONE)

    (second,) = deployed(engine, TWO)

    assert (second.version, [each.version for each in second.decisions]) == (2, [2, 2])
    assert latest(engine) == {"a": 2, "b": 2}


def test_unchanged_content_keeps_its_versions(engine: Scenario) -> None:
    first = deployed(engine, ONE)

    assert deployed(engine, ONE) == first
    assert len(engine.rows.all(DecisionRequirements)) == 1


def test_unchanged_content_under_another_name_is_a_new_version(engine: Scenario) -> None:
    deployed(engine, ONE)

    (again,) = deployed(engine, graph(answering("a", "1"), answering("b", "1"), name="other.dmn"))

    assert (again.version, again.resource_name) == (2, "other.dmn")


def test_a_decision_that_moves_to_another_graph_goes_on_counting(engine: Scenario) -> None:
    deployed(engine, ONE)

    (other,) = deployed(engine, graph(answering("a", "3"), id_="other"))

    assert (other.version, other.decisions[0].version) == (1, 2)
    assert latest(engine) == {"a": 2, "b": 1}


def test_a_graph_takes_a_decision_back_that_moved_to_another_one(engine: Scenario) -> None:
    deployed(engine, ONE)
    deployed(engine, graph(answering("a", "3"), id_="other"))

    (again,) = deployed(engine, ONE)

    assert (again.version, [each.version for each in again.decisions]) == (2, [3, 2])
    assert latest(engine) == {"a": 3, "b": 2}


def test_versions_of_tenants_are_counted_apart(engine: Scenario) -> None:
    deployed(engine, ONE)
    deployed(engine, TWO)
    engine.tenant_id = "other"

    (other,) = deployed(engine, TWO)

    assert (other.version, [each.version for each in other.decisions]) == (1, [1, 1])


def test_several_graphs_may_come_at_once(engine: Scenario) -> None:
    found = deployed(engine, ONE, graph(answering("c", "1"), id_="other", name="other.dmn"))

    assert [each.decision_requirements_id for each in found] == ["pricing", "other"]


def test_a_graph_without_decisions_is_known_too(engine: Scenario) -> None:
    (found,) = deployed(engine, graph())

    assert found.decisions == ()
    assert deployed(engine, graph()) == (found,)


@pytest.mark.parametrize("model", [TWO, graph(answering("a", "1"), id_="other")])
def test_a_graph_that_is_let_go_leaves_what_was_before(model: DecisionModel) -> None:
    before, engine = Scenario(), Scenario()
    for each in (before, engine):
        deployed(each, ONE)
    known = engine.state.decisions
    deployed(engine, model)
    latest_graph = known.graphs[max(known.graphs)]
    numbers = before.state.decisions.numbers_of(latest_graph)

    known.undefine(latest_graph, numbers)

    assert before.state.decisions == known
