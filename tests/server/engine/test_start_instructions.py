"""Process instances that begin at given elements, and that end after given elements."""

import pytest

from server.bpmn.builder import ProcessBuilder, event_sub_process, process, sub_process
from server.engine import process_instance_commands
from server.engine.formats import Feature, feature_of
from server.engine.rejection import RejectionType
from tests.server.engine.scenario import MINUTE, Scenario, texts
from tests.server.engine.test_modification import nested, order, standing

FAILING = '=assert(null, false, "never")'


def creation(
    engine: Scenario, *element_ids: str, until: tuple[str, ...] = (), **variables: object
) -> process_instance_commands.CreateProcessInstance:
    return process_instance_commands.CreateProcessInstance(
        tenant_id=engine.tenant_id,
        process_definition_id=engine.process_id,
        variables=texts(variables),
        start_element_ids=element_ids,
        terminates_after=until,
    )


def start_at(
    engine: Scenario, *element_ids: str, until: tuple[str, ...] = (), **variables: object
) -> Scenario:
    return engine.create(creation(engine, *element_ids, until=until, **variables))


def refusal(engine: Scenario, *element_ids: str) -> str:
    """Why such a creation is refused, by INVALID_ARGUMENT; nothing has begun."""
    rejected = engine.refusal(creation(engine, *element_ids))
    assert rejected.type is RejectionType.INVALID_ARGUMENT
    assert engine.state.instances == {}
    return rejected.reason.removeprefix(f"process '{engine.process_id}' cannot be started as asked: ")


# Where it starts


def test_a_process_instance_starts_at_the_elements_that_are_named(engine: Scenario) -> None:
    engine.deploy(order())

    start_at(engine, "b", "a", "b", x=1)

    assert standing(engine) == ["b", "a", "b"]
    assert engine.path == []
    assert engine.variables() == {"x": 1}
    engine.complete("b").complete("b").complete("a").complete("b")
    assert engine.is_completed
    engine.expect_laws()


def test_flow_scopes_are_made_once_without_start_events_and_mappings(engine: Scenario) -> None:
    inner = sub_process("inner").start().service_task("deep", type="deep").end()
    outer = sub_process("outer").start().embed(inner, inputs={"x": FAILING}).service_task("x", type="x").end()
    engine.deploy(process("nested").start().embed(outer).end())

    start_at(engine, "deep", "x")

    assert standing(engine) == ["outer", "inner", "deep", "x"]
    assert engine.path == []


def test_a_process_without_a_none_start_event_starts_at_its_elements(engine: Scenario) -> None:
    engine.deploy(process("called").start_message("begun", message="go").service_task("a", type="a").end())

    start_at(engine, "a")

    assert standing(engine) == ["a"]


def test_the_process_and_its_scopes_wait_for_their_events(engine: Scenario) -> None:
    help_ = event_sub_process("help").start_timer("late", duration="PT1M").service_task("tell", type="tell")
    engine.deploy(order().beside(help_.end()))

    start_at(engine, "b").advance(MINUTE)

    assert standing(engine) == ["help", "tell"]
    engine.expect_laws()


def test_elements_without_a_wait_lead_to_the_end_at_once(engine: Scenario) -> None:
    engine.deploy(process("short").start().service_task("a", type="a").end("done"))

    start_at(engine, "done")

    assert engine.is_completed


@pytest.mark.parametrize(
    ("element_ids", "reason"),
    [
        (("a", "none"), "process 'order' has no element 'none' to activate"),
        (("start",), "'start' is a START_EVENT, and cannot be activated"),
        (("order",), "'order' is a PROCESS, and cannot be activated"),
    ],
    ids=str,
)
def test_what_cannot_be_activated_is_refused(
    engine: Scenario, element_ids: tuple[str, ...], reason: str
) -> None:
    engine.deploy(order())

    assert refusal(engine, *element_ids) == reason


def test_an_element_inside_a_multi_instance_is_refused(engine: Scenario) -> None:
    inner = sub_process("many").start().service_task("deep", type="deep").end()
    engine.deploy(process("order").start().embed(inner).multi_instance("=[1, 2]").end())

    assert "'many' is a multi-instance activity" in refusal(engine, "deep")


def test_a_process_that_cannot_wait_for_its_events_is_refused(engine: Scenario) -> None:
    help_ = event_sub_process("help").start_timer("late", duration=FAILING).end()
    engine.deploy(order().beside(help_))

    assert refusal(engine, "a").startswith("the process cannot wait for its events: ")


# When it ends


def test_it_is_terminated_when_the_element_has_completed(engine: Scenario) -> None:
    engine.deploy(nested())
    start_at(engine, "deep", "before", until=("deep",))

    engine.complete("deep")

    assert engine.path == ["deep"]
    assert engine.is_terminated
    engine.expect_laws()


def test_it_is_terminated_when_the_element_was_terminated(engine: Scenario) -> None:
    model = order()
    model.boundary_timer("late", on="a", duration="PT1M").service_task("hurry", type="hurry").end()
    engine.deploy(model)
    start_at(engine, "a", "b", until=("a",))

    engine.advance(MINUTE)

    assert engine.is_terminated
    assert "late" not in engine.path
    engine.expect_laws()


@pytest.mark.parametrize("last", ["inner", "outer", "end"])
def test_the_last_element_may_be_a_scope_or_an_end_event(engine: Scenario, last: str) -> None:
    engine.deploy(nested())
    start_at(engine, "deep", "after", until=(last,))

    engine.complete("deep" if last != "end" else "after")

    assert engine.is_terminated
    engine.expect_laws()


def test_one_item_of_a_multi_instance_ends_nothing(engine: Scenario) -> None:
    engine.deploy(many())
    start_at(engine, until=("a",)).complete("a")

    assert not engine.is_terminated
    engine.complete("a")
    assert engine.is_terminated
    engine.expect_laws()


def many() -> ProcessBuilder:
    model = process("order").start().service_task("a", type="a").multi_instance("=[1, 2]")
    return model.service_task("b", type="b").end()


def test_an_element_that_the_process_does_not_have_is_refused(engine: Scenario) -> None:
    engine.deploy(order())

    rejected = engine.refusal(creation(engine, until=("a", "none")))

    assert rejected.type is RejectionType.INVALID_ARGUMENT
    assert rejected.reason == "process 'order' has no element 'none' after which it could be terminated"


def test_a_cancellation_of_such_a_process_instance_ends_it_once(engine: Scenario) -> None:
    engine.deploy(nested())
    start_at(engine, "deep", "before", until=("deep", "before"))

    engine.execute(process_instance_commands.CancelProcessInstance(engine.tenant_id, engine.instance_key))

    assert engine.is_terminated
    engine.expect_laws()


def test_nodes_that_do_not_know_instructions_get_none(engine: Scenario) -> None:
    engine.deploy(order())

    assert feature_of(creation(engine)) is Feature.PLAIN_PROCESSES
    assert feature_of(creation(engine, "a")) is Feature.MODIFICATIONS
    assert feature_of(creation(engine, until=("a",))) is Feature.MODIFICATIONS
