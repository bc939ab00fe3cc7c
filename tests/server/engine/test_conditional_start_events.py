from typing import cast

import pytest

from server.bpmn.builder import ProcessBuilder, process
from server.engine import process_instance_commands, signal_commands
from server.engine.answers import EvaluatedConditionals
from server.engine.keys import Key
from server.engine.limits import EngineLimits
from server.engine.rejection import Rejected, RejectionType
from tests.server.engine.scenario import Scenario, texts


def begun(process_id: str = "large", condition: str = "=amount > 100", **chosen: str) -> ProcessBuilder:
    builder = process(process_id).start_condition("begin", condition=condition, **chosen)
    return builder.service_task("wait", type="wait").end()


def evaluate(engine: Scenario, key: Key | None = None, /, **variables: object) -> EvaluatedConditionals:
    command = signal_commands.EvaluateConditionals(engine.tenant_id, texts(variables), key)
    return cast("EvaluatedConditionals", engine.execute(command))


def begins(answer: EvaluatedConditionals) -> list[str]:
    return [head.process_definition_id for head in answer.heads]


def test_variables_that_meet_the_condition_begin_an_instance(engine: Scenario) -> None:
    engine.deploy(begun())

    (head,) = evaluate(engine, amount=120, more="x").heads

    assert engine.variables(head.key) == {"amount": 120, "more": "x"}
    instance = engine.state.instances[head.key]
    assert [each.element_id for each in instance.elements.values()] == ["large", "wait"]
    assert head.process_definition_key == engine.state.definitions[head.process_definition_key].key


@pytest.mark.parametrize("variables", [{"amount": 100}, {"amount": "many"}, {}])
def test_others_begin_nothing(engine: Scenario, variables: dict[str, object]) -> None:
    engine.deploy(begun())

    first, second = evaluate(engine, **variables), evaluate(engine, **variables)

    assert (first.heads, second.heads) == ((), ())
    assert second.key > first.key
    assert engine.state.instances == {}


def test_a_condition_that_fails_or_gives_no_boolean_begins_nothing(engine: Scenario) -> None:
    engine.deploy(begun("one", "=assert(amount, false)"), begun("two", "=amount"))

    assert evaluate(engine, amount=1).heads == ()


def test_every_start_event_whose_condition_is_true_begins_an_instance(engine: Scenario) -> None:
    builder = begun("first").start_condition("also", condition="=amount > 10").end()
    builder.start_condition("never", condition="=amount > 1000").end()
    engine.deploy(builder, begun("second"), process("none").start().end())

    assert begins(evaluate(engine, amount=120)) == ["first", "first", "second"]


def test_a_filter_chooses_the_variables_for_which_a_start_event_is_evaluated(engine: Scenario) -> None:
    engine.deploy(begun(condition="=amount = null or amount > 100 or urgent", names="urgent"))

    assert evaluate(engine, amount=120).heads == evaluate(engine).heads == ()
    assert begins(evaluate(engine, amount=120, urgent=False)) == ["large"]


def test_a_filter_without_a_variable_of_the_condition_begins_nothing(engine: Scenario) -> None:
    engine.deploy(begun(names="other"))

    assert evaluate(engine, amount=120, other=1).heads == ()


@pytest.mark.parametrize("change", ["create", "update"])
def test_a_filter_of_changes_leaves_out_no_start_event_of_a_process(engine: Scenario, change: str) -> None:
    engine.deploy(begun(changes=change))

    assert begins(evaluate(engine, amount=120)) == ["large"]


def test_one_process_definition_can_be_named(engine: Scenario) -> None:
    engine.deploy(begun("first"), begun("second"))
    second = engine.state.latest("default", "second")
    assert second is not None

    assert begins(evaluate(engine, second.key, amount=120)) == ["second"]


def test_only_the_latest_version_begins(engine: Scenario) -> None:
    engine.deploy(begun())
    old = engine.state.latest("default", "large")
    assert old is not None
    engine.deploy(begun(condition="=amount > 1000"))

    assert evaluate(engine, amount=120).heads == ()
    assert evaluate(engine, old.key, amount=120).heads == ()


def test_a_version_without_the_start_event_closes_it(engine: Scenario) -> None:
    engine.deploy(begun()).deploy(process("large").start().end())

    assert evaluate(engine, amount=120).heads == ()
    assert engine.state.starts.conditions == {}


def test_another_tenant_has_other_processes(engine: Scenario) -> None:
    engine.deploy(begun())
    found = engine.state.latest("default", "large")
    assert found is not None

    answer = engine.execute(signal_commands.EvaluateConditionals("other", {"amount": "120"}))
    assert cast("EvaluatedConditionals", answer).heads == ()
    for tenant_id, key in (("other", found.key), ("default", Key(42))):
        refusal = engine.refusal(signal_commands.EvaluateConditionals(tenant_id, {"amount": "120"}, key))
        assert refusal.type is RejectionType.NOT_FOUND


def test_a_process_that_begins_with_a_condition_alone_is_not_created(engine: Scenario) -> None:
    engine.deploy(begun())

    command = process_instance_commands.CreateProcessInstance(
        tenant_id="default", process_definition_id="large"
    )

    assert engine.refusal(command).type is RejectionType.INVALID_STATE


def test_a_variable_of_a_running_instance_begins_no_other(engine: Scenario) -> None:
    other = process("other").service_task("count", type="count").service_task("rest", type="rest").end()
    engine.deploy(other, begun())

    engine.start("other").complete("count", amount=120)

    assert engine.state.instances.keys() == {engine.instance_key}


def test_one_evaluation_begins_up_to_a_number_of_instances_or_none() -> None:
    scenario = Scenario(limits=EngineLimits(conditional_starts=2)).deploy(begun("a"), begun("b"))
    assert begins(evaluate(scenario, amount=120)) == ["a", "b"]
    scenario.deploy(begun("c"))
    before = set(scenario.state.instances)

    with pytest.raises(Rejected, match=r"begin more than 2 .*: name one process definition") as refused:
        evaluate(scenario, amount=120)

    assert refused.value.type is RejectionType.INVALID_STATE
    assert set(scenario.state.instances) == before
    scenario.expect_laws()


def test_one_definition_begins_up_to_a_number_of_instances_or_none() -> None:
    scenario = Scenario(limits=EngineLimits(conditional_starts=2))
    builder = process("large").start_condition("first", condition="=amount > 100").end("done")
    for number in range(2):
        builder = builder.start_condition(f"start-{number}", condition=f"=amount > {number}").end()
    scenario.deploy(builder)
    found = scenario.state.latest("default", "large")
    assert found is not None

    assert len(evaluate(scenario, found.key, amount=90).heads) == 2
    before = set(scenario.state.instances)
    with pytest.raises(Rejected, match=r"begin more than 2 .*: give it fewer start events"):
        evaluate(scenario, found.key, amount=120)
    assert set(scenario.state.instances) == before


def test_all_conditions_share_the_steps_of_an_element() -> None:
    slow = "=count(for x in 1..1000 return x + n) = 1"
    scenario = Scenario(limits=EngineLimits(element_steps=20_000))
    scenario.deploy(*(begun(f"p{number}", slow) for number in range(20)))

    with pytest.raises(Rejected, match="take too many steps"):
        evaluate(scenario, n=1)

    found = scenario.state.latest("default", "p7")
    assert found is not None
    assert evaluate(scenario, found.key, n=1).heads == ()
