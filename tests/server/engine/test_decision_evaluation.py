from dataclasses import replace
from typing import TYPE_CHECKING, cast

import msgspec

from server.engine.decision_commands import EvaluateDecision
from server.engine.decision_events import DecisionEvaluated
from server.engine.deployment_commands import DeployResources
from server.engine.handlers.decision import MAX_DECISION_STEPS
from server.engine.keys import Key
from server.engine.rejection import RejectionType
from server.partition.config import DialectChoice
from server.store.entities import DecisionDefinition, DecisionInstance, DecisionInstanceState
from tests.server.dmn.models import context, decision, literal, table
from tests.server.engine.graphs import DISCOUNT, answering, graph, graph_xml
from tests.server.engine.scenario import Scenario, texts

if TYPE_CHECKING:
    from server.engine.answers import DecisionResult


def deploy(engine: Scenario, *parts: str, id_: str = "pricing") -> None:
    engine.execute(DeployResources(engine.tenant_id, (), (graph(*parts, id_=id_),)))


def evaluated(engine: Scenario, decision_id: str, **variables: object) -> DecisionEvaluated:
    command = EvaluateDecision(
        tenant_id=engine.tenant_id, decision_definition_id=decision_id, variables=texts(variables)
    )
    return cast("DecisionResult", engine.execute(command)).evaluation


def key_of(engine: Scenario, decision_id: str, version: int = 1) -> Key:
    rows = engine.rows.all(DecisionDefinition)
    (found,) = [row for row in rows if (row.decision_definition_id, row.version) == (decision_id, version)]
    return found.decision_definition_key


def test_a_decision_is_evaluated_with_all_that_it_requires(engine: Scenario) -> None:
    deploy(engine, *DISCOUNT)

    answer = evaluated(engine, "discount", customer="regular", amount=120)

    assert (answer.output, answer.failure) == ("10", None)
    level, discount = answer.decisions
    assert (level.decision_definition_id, level.type, level.output) == ("level", "LITERAL_EXPRESSION", "2")
    assert (discount.type, discount.output) == ("DECISION_TABLE", "10")
    assert [(each.name, each.value) for each in discount.inputs] == [
        ("customer", '"regular"'),
        ("level", "2"),
    ]
    (rule,) = discount.matched_rules
    assert (rule.id, rule.index, [each.value for each in rule.outputs]) == ("rule2", 2, ["10"])


def test_a_decision_without_an_id_is_evaluated_by_the_one_that_was_made(engine: Scenario) -> None:
    deploy(engine, f'<decision name="Approve loan">{literal("1 + 1")}</decision>')

    answer = evaluated(engine, "urn:model#Approve loan")

    assert (answer.output, answer.failure) == ("2", None)
    assert [each.decision_definition_id for each in answer.decisions] == ["urn:model#Approve loan"]


def test_every_evaluated_decision_leaves_an_instance(engine: Scenario) -> None:
    deploy(engine, *DISCOUNT)

    answer = evaluated(engine, "discount", customer="regular", amount=120)

    level, discount = sorted(engine.rows.all(DecisionInstance), key=lambda row: row.decision_instance_key)
    assert [level.decision_evaluation_instance_key, discount.decision_evaluation_instance_key] == [
        f"{answer.key}-1",
        f"{answer.key}-2",
    ]
    assert (discount.state, discount.result) == (DecisionInstanceState.EVALUATED, "10")
    assert discount.evaluation_date == engine.now
    assert discount.decision_definition_key == level.root_decision_definition_key
    assert msgspec.json.decode(discount.rules)[0]["outputs"][0]["value"] == "10"
    assert engine.state.last_key == discount.decision_instance_key


def test_the_latest_version_is_evaluated_by_id_and_any_by_key(engine: Scenario) -> None:
    deploy(engine, answering("a", "1"))
    deploy(engine, answering("a", "2"))

    by_key = EvaluateDecision(tenant_id="default", decision_definition_key=key_of(engine, "a"))

    assert evaluated(engine, "a").output == "2"
    assert cast("DecisionResult", engine.execute(by_key)).evaluation.output == "1"


def test_a_decision_that_fails_is_told_and_kept(engine: Scenario) -> None:
    both = table(["x"], ["out"], ["1", "1"], ["-", "2"])
    outer = decision("outer", literal("inner"), requires=["inner"])
    model = graph(decision("inner", both), outer, dialect=DialectChoice.CAMUNDA)
    engine.execute(DeployResources("default", (), (model,)))

    answer = evaluated(engine, "outer", x=1)

    assert (answer.output, answer.failed_decision_id) == ("null", "inner")
    assert answer.failure is not None
    assert answer.failure.startswith("Expected to evaluate decision 'outer', but ")
    (row,) = engine.rows.all(DecisionInstance)
    assert (row.decision_definition_id, row.state) == ("inner", DecisionInstanceState.FAILED)
    assert row.evaluation_failure == answer.failure


def test_a_stored_model_that_a_later_version_refuses_fails_with_the_reason(engine: Scenario) -> None:
    accepted = graph(answering("a", "1 = 1"), dialect=DialectChoice.CAMUNDA)
    stored = replace(accepted, content=graph_xml(answering("a", "1 == 1")))
    engine.execute(DeployResources("default", (), (stored,)))

    answer = evaluated(engine, "a")

    assert (answer.output, answer.failed_decision_id, answer.decisions) == ("null", "a", ())
    assert answer.failure is not None
    assert answer.failure.startswith("Expected to evaluate decision 'a', but the model cannot be evaluated: ")
    assert "expected '=' but found '=='" in answer.failure


def test_a_decision_may_take_so_many_steps_with_all_that_it_requires(engine: Scenario) -> None:
    most_of_them = f"count(for n in 1..{MAX_DECISION_STEPS // 5} return n * n)"
    more = decision("more", literal(f"most + {most_of_them}"), requires=["most"])
    deploy(engine, decision("most", literal(most_of_them)), more)

    most = evaluated(engine, "most")
    too_many = evaluated(engine, "more")

    assert (most.output, most.failure) == (str(MAX_DECISION_STEPS // 5), None)
    assert (too_many.output, too_many.failed_decision_id) == ("null", "more")
    assert too_many.failure == (
        "Expected to evaluate decision 'more', but the evaluations together take too many steps"
    )


def test_time_is_the_commands_and_chance_never_the_same(engine: Scenario) -> None:
    entries = context(("at", literal("now()")), ("one", literal("uuid()")), ("two", literal("uuid()")))
    deploy(engine, decision("a", entries))

    first, second = [msgspec.json.decode(evaluated(engine, "a").output) for _ in range(2)]

    assert first["at"].startswith(f"{engine.now:%Y-%m-%dT%H:%M:%S}")
    assert len({found[name] for found in (first, second) for name in ("one", "two")}) == 4


def test_a_decision_that_nobody_deployed_is_not_found(engine: Scenario) -> None:
    deploy(engine, answering("a", "1"))

    unknown = EvaluateDecision(tenant_id="default", decision_definition_id="b")
    of_nobody = EvaluateDecision(tenant_id="default", decision_definition_key=Key(7))

    assert engine.refusal(unknown).type is RejectionType.NOT_FOUND
    assert engine.refusal(of_nobody).type is RejectionType.NOT_FOUND


def test_a_decision_of_another_tenant_is_not_found(engine: Scenario) -> None:
    deploy(engine, answering("a", "1"))
    key = key_of(engine, "a")

    by_id = EvaluateDecision(tenant_id="other", decision_definition_id="a")
    by_key = EvaluateDecision(tenant_id="other", decision_definition_key=key)

    assert engine.refusal(by_id).type is RejectionType.NOT_FOUND
    assert engine.refusal(by_key).type is RejectionType.NOT_FOUND
