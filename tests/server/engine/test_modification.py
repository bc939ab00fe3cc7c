"""Modification of process instances: elements are activated and terminated from outside."""

from typing import Any

import pytest

from server.bpmn.builder import ProcessBuilder, event_sub_process, process, sub_process
from server.engine import events, job_commands
from server.engine.keys import Key
from server.engine.limits import ENTERING_STEPS, EngineLimits
from server.engine.modification_commands import (
    ActivateInstruction,
    AncestorScopeType,
    MoveInstruction,
    TerminateInstruction,
    VariableInstruction,
)
from server.engine.modifications import TERMINATED_AT_ONCE
from server.engine.process_instance import ElementInstance
from server.engine.rejection import RejectionType
from tests.server.engine.scenario import MINUTE, Scenario, texts
from tests.server.engine.test_ad_hoc_sub_process import INNER, caring, inside
from tests.server.engine.test_compensation import booking
from tests.server.engine.test_multi_instance import BODY
from tests.server.engine.test_slices import Sliced

FAILING = '=assert(null, false, "never")'


def activate(
    element_id: str, *, within: Key | None = None, **scopes: dict[str, object]
) -> ActivateInstruction:
    """With variables by the id of their scope; `root` is the process."""
    variables = tuple(
        VariableInstruction("" if scope_id == "root" else scope_id, texts(names))
        for scope_id, names in scopes.items()
    )
    return ActivateInstruction(
        element_id=element_id, ancestor_element_instance_key=within, variable_instructions=variables
    )


def terminate(element: str | Key) -> TerminateInstruction:
    if isinstance(element, str):
        return TerminateInstruction(element_id=element)
    return TerminateInstruction(element_instance_key=element)


def move(source: str | Key, target: str, **attributes: Any) -> MoveInstruction:
    if isinstance(source, str):
        return MoveInstruction(source_element_id=source, target_element_id=target, **attributes)
    return MoveInstruction(source_element_instance_key=source, target_element_id=target, **attributes)


def order() -> ProcessBuilder:
    return process("order").start().service_task("a", type="a").service_task("b", type="b").end()


def nested(inside: ProcessBuilder | None = None) -> ProcessBuilder:
    """A task `before`, then `outer` with `inner`, with task `deep`, then a task `after`."""
    inner = inside or sub_process("inner").start().service_task("deep", type="deep").end()
    outer = sub_process("outer").start().embed(inner).end()
    builder = process("nested").start().service_task("before", type="before").embed(outer)
    return builder.service_task("after", type="after").end()


def active(engine: Scenario, element_id: str) -> list[ElementInstance]:
    return [each for each in engine.instance.elements.values() if each.element_id == element_id]


def standing(engine: Scenario) -> list[str]:
    """Elements that are active, in the order of their activation; the process is left out."""
    elements = sorted(engine.instance.elements.values(), key=lambda each: each.key)
    return [each.element_id for each in elements[1:]]


def refusal(engine: Scenario, *instructions: Any) -> str:
    """Why a modification is refused, by INVALID_ARGUMENT."""
    rejected = engine.refusal(engine.modification(*instructions))
    assert rejected.type is RejectionType.INVALID_ARGUMENT
    return rejected.reason.removeprefix(f"process instance {engine.instance_key} cannot be modified: ")


# Activation


def test_an_activated_element_goes_on_by_its_flows(engine: Scenario) -> None:
    engine.deploy(order()).start()

    engine.modify(activate("b"))

    assert standing(engine) == ["a", "b"]
    engine.complete("b")
    assert engine.path == ["start", "b", "end"]
    engine.complete("a").complete("b")
    assert engine.is_completed
    engine.expect_laws()


def test_an_element_is_activated_as_often_as_it_is_named(engine: Scenario) -> None:
    engine.deploy(order()).start()

    engine.modify(activate("b"), activate("b"))

    assert engine.offered == ["a", "b", "b"]


def test_missing_flow_scopes_are_made_once_without_start_events_and_mappings(engine: Scenario) -> None:
    inner = sub_process("inner").start().service_task("deep", type="deep").end()
    outer = sub_process("outer").start().embed(inner, inputs={"x": FAILING}).end()
    engine.deploy(process("nested").start().service_task("before", type="before").embed(outer).end()).start()

    engine.modify(activate("deep"), activate("deep"))

    assert standing(engine) == ["before", "outer", "inner", "deep", "deep"]
    assert engine.path == ["start"]
    engine.complete("deep").complete("deep").complete("before", x=1)
    assert "inner" in engine.path
    engine.expect_laws()


def test_a_flow_scope_that_is_active_is_used(engine: Scenario) -> None:
    engine.deploy(nested()).start().complete("before")
    inner = engine.element("inner").key

    engine.modify(activate("deep"))

    assert [each.scope_key for each in active(engine, "deep")] == [inner, inner]


def test_scopes_that_are_made_wait_for_their_events(engine: Scenario) -> None:
    help_ = event_sub_process("help").start_timer("late", duration="PT2M").service_task("tell", type="tell")
    inner = sub_process("inner").start().service_task("deep", type="deep").end().beside(help_.end())
    builder = process("order").start().service_task("before", type="before").embed(inner).end()
    builder.boundary_timer("soon", on="inner", is_interrupting=False, duration="PT1M")
    engine.deploy(builder.service_task("hurry", type="hurry").end()).start()

    engine.modify(activate("deep")).advance(MINUTE)

    assert standing(engine) == ["before", "inner", "deep", "hurry"]
    engine.advance(MINUTE)
    assert standing(engine) == ["before", "inner", "hurry", "help", "tell"]
    engine.expect_laws()


def test_an_ancestor_is_chosen_among_several(engine: Scenario) -> None:
    engine.deploy(nested()).start().complete("before").modify(activate("outer"))
    first, second = active(engine, "outer")

    assert "'outer', a flow scope of 'deep', has several active instances" in refusal(
        engine, activate("deep")
    )
    engine.modify(activate("deep", within=active(engine, "inner")[1].key))

    scopes = [each.scope_key for each in active(engine, "deep")]
    assert scopes == [active(engine, "inner")[0].key] + 2 * [active(engine, "inner")[1].key]
    assert [each.scope_key for each in active(engine, "inner")] == [first.key, second.key]


def test_scopes_inside_an_ancestor_are_made_anew(engine: Scenario) -> None:
    engine.deploy(nested()).start().complete("before")

    engine.modify(activate("deep", within=engine.instance_key))

    assert standing(engine) == ["outer", "inner", "deep", "outer", "inner", "deep"]


def test_variables_are_set_before_the_elements_are_activated(engine: Scenario) -> None:
    inner = sub_process("inner").start().service_task("deep", type="deep", inputs={"y": "=x + z"}).end()
    engine.deploy(nested(inner)).start()

    engine.modify(activate("deep", root={"r": 1}, outer={"x": 2}, inner={"z": 3}, deep={"own": 4}))

    assert engine.variables() == {"r": 1}
    assert engine.variables(engine.element("outer").key) == {"x": 2}
    assert engine.variables(engine.element("inner").key) == {"z": 3}
    assert engine.variables(engine.element("deep").key) == {"own": 4, "y": 5}


def test_input_mappings_see_the_variables_that_are_set_at_their_element(engine: Scenario) -> None:
    model = (
        process("order")
        .service_task("first", type="first")
        .service_task("b", type="b", inputs={"n": "=n + 1"})
    )
    engine.deploy(model.end()).start(n=0)

    engine.modify(activate("b", b={"n": 5}))

    assert engine.variables(engine.element("b").key) == {"n": 6}


def test_variables_of_the_process_may_name_it(engine: Scenario) -> None:
    engine.deploy(order()).start(x=1)

    engine.modify(activate("b", order={"x": 2}))

    assert engine.variables() == {"x": 2}


def test_a_multi_instance_activity_begins_anew(engine: Scenario) -> None:
    builder = process("order").start().service_task("a", type="a").service_task("each", type="each")
    engine.deploy(builder.multi_instance("=items").end()).start(items=[1, 2])

    engine.modify(activate("each"))

    assert [each.type for each in active(engine, "each")] == [BODY, "SERVICE_TASK", "SERVICE_TASK"]


def repeated(*, sequential: bool = False) -> ProcessBuilder:
    """A sub-process `each` for each item, with a task `deep`, behind a task `a`."""
    inner = sub_process("each").start().service_task("deep", type="deep").service_task("more", type="more")
    builder = process("order").start().service_task("a", type="a").embed(inner.end())
    return builder.multi_instance("=items", sequential=sequential).service_task("after", type="after").end()


def test_an_element_is_activated_inside_one_instance_of_a_repeated_sub_process(engine: Scenario) -> None:
    engine.deploy(repeated()).start(items=[1, 2]).complete("a")
    _, _, second = active(engine, "each")

    engine.modify(activate("more", within=second.key))

    assert engine.element("more").scope_key == second.key


def test_an_event_sub_process_begins_beside_the_rest(engine: Scenario) -> None:
    help_ = event_sub_process("help").start_timer("late", duration="PT2M").service_task("tell", type="tell")
    engine.deploy(order().beside(help_.end())).start()

    engine.modify(activate("help"))

    assert standing(engine) == ["a", "help", "tell"]
    engine.complete("tell").complete("a").complete("b")
    assert engine.is_completed


def test_an_element_of_an_ad_hoc_sub_process_has_an_inner_instance(engine: Scenario) -> None:
    output = {"output": "=result", "outputs_to": "results"}
    engine.deploy(caring(None, **output)).start()

    engine.modify(activate("feed"))

    assert standing(engine) == ["care", INNER, "feed"]
    engine.complete("feed", result=5)
    assert engine.is_completed
    assert engine.variables()["results"] == [5]
    engine.expect_laws()


def test_an_ad_hoc_sub_process_is_made_without_its_first_elements(engine: Scenario) -> None:
    builder = (
        process("cat").start().service_task("before", type="before").embed_ad_hoc(inside(), active=FAILING)
    )
    engine.deploy(builder.end()).start()

    engine.modify(activate("dry"))

    assert standing(engine) == ["before", "care", INNER, "dry"]
    engine.modify(terminate("dry"))
    assert standing(engine) == ["before"]
    engine.expect_laws()


# Termination


def test_a_terminated_element_leaves_nothing_behind(engine: Scenario) -> None:
    builder = order().branch("start").service_task("other", type="other").end()
    builder.boundary_timer("late", on="a", duration="PT1H").end()
    engine.deploy(builder).start().fail("a")

    engine.modify(terminate(engine.element("a").key))

    assert standing(engine) == ["other"]
    instance = engine.instance
    assert (instance.incidents, instance.subscriptions) == ({}, {})
    assert [job.type for job in instance.jobs.values()] == ["other"]
    engine.complete("other")
    assert engine.is_completed
    engine.expect_laws()


def test_an_element_id_means_all_of_its_instances(engine: Scenario) -> None:
    engine.deploy(order()).start().modify(activate("a"), activate("b"))

    engine.modify(terminate("a"))

    assert standing(engine) == ["b"]


def test_the_last_element_ends_the_process_instance(engine: Scenario) -> None:
    engine.deploy(nested()).start().complete("before")

    engine.modify(terminate(engine.element("deep").key))

    assert engine.is_terminated
    assert len(engine.happened(events.ElementTerminated)) == 4
    engine.expect_laws()


def test_the_last_element_of_a_scope_ends_that_scope_alone(engine: Scenario) -> None:
    engine.deploy(nested()).start().complete("before").modify(activate("after"))

    engine.modify(terminate("deep"))

    assert standing(engine) == ["after"]
    engine.complete("after")
    assert engine.is_completed


def test_a_scope_stays_while_a_flow_waits_in_it(engine: Scenario) -> None:
    builder = process("order").start().parallel_gateway("fork").service_task("a", type="a")
    builder.parallel_gateway("join").end().branch("fork").service_task("b", type="b").connect_to("join")
    engine.deploy(builder).start().complete("a")

    engine.modify(terminate("b"))

    assert standing(engine) == []
    engine.modify(activate("join"))
    assert "join" in engine.path


def test_a_termination_that_ends_a_scope_follows_no_path_out_of_it(engine: Scenario) -> None:
    engine.deploy(repeated()).start(items=[1, 2]).complete("a").modify(activate("a"))
    body = active(engine, "each")[0]

    engine.modify(terminate("deep"))

    assert standing(engine) == ["a"]
    assert body.key in [event.key for event in engine.happened(events.ElementTerminated)]


def test_a_repeated_activity_goes_on_without_what_was_terminated(engine: Scenario) -> None:
    engine.deploy(repeated()).start(items=[1, 2]).complete("a")

    engine.modify(terminate(active(engine, "deep")[0].key)).complete("deep").complete("more")

    assert standing(engine) == ["after"]
    engine.expect_laws()


def test_a_sequential_activity_ends_with_the_instance_that_is_terminated(engine: Scenario) -> None:
    engine.deploy(repeated(sequential=True)).start(items=[1, 2]).complete("a")

    engine.modify(terminate("deep"))

    assert engine.is_terminated


def test_a_call_activity_is_terminated_with_what_it_called(engine: Scenario) -> None:
    engine.deploy(process("called").start().service_task("work", type="work").end())
    engine.deploy(process("caller").start().call_activity("call", process="called").end()).start()

    engine.modify(terminate("call"))

    assert engine.is_terminated
    assert engine.state.instances == {}
    engine.expect_laws()


def test_the_process_instance_itself_can_be_named(engine: Scenario) -> None:
    engine.deploy(order()).start()

    engine.modify(terminate(engine.instance_key))

    assert engine.is_terminated


def test_an_event_goes_on_without_a_compensation_handler_that_is_terminated(engine: Scenario) -> None:
    engine.deploy(booking()).start().complete("flight").complete("hotel")

    engine.modify(terminate("undo_hotel"), terminate("undo_flight"))

    assert engine.path[-2:] == ["regret", "home"]
    assert engine.is_completed


# Both


def test_what_is_activated_keeps_the_scope_of_what_is_terminated(engine: Scenario) -> None:
    engine.deploy(nested()).start().complete("before")
    inner = engine.element("inner").key

    engine.modify(activate("deep"), terminate(engine.element("deep").key))

    assert [each.scope_key for each in active(engine, "deep")] == [inner]


def test_a_called_process_instance_keeps_an_element(engine: Scenario) -> None:
    engine.deploy(process("called").start().service_task("work", type="work").end())
    engine.deploy(process("caller").start().call_activity("call", process="called").end()).start()
    caller, called = engine.instance_key, engine.element("call").called_key
    assert called is not None
    engine.instance_key = called

    reason = refusal(engine, terminate("work"))

    assert reason == (
        "nothing would be left in it, and a call activity started it: modify process instance"
        f" {caller} instead"
    )
    engine.modify(activate("work"), terminate(engine.element("work").key)).complete("work")
    engine.instance_key = caller
    assert engine.is_completed


# Moves


def test_a_move_activates_the_target_for_each_source(engine: Scenario) -> None:
    engine.deploy(order()).start().modify(activate("a"))

    engine.modify(move("a", "b"))

    assert standing(engine) == ["b", "b"]
    assert engine.offered == ["b", "b"]
    engine.expect_laws()


def test_one_element_instance_is_moved(engine: Scenario) -> None:
    engine.deploy(order()).start().modify(activate("a"))

    engine.modify(
        move(
            active(engine, "a")[0].key,
            "b",
            variable_instructions=activate("b", b={"x": 1}).variable_instructions,
        )
    )

    assert standing(engine) == ["a", "b"]
    assert engine.variables(engine.element("b").key) == {"x": 1}


@pytest.mark.parametrize("scope_type", [AncestorScopeType.SOURCE_PARENT, AncestorScopeType.INFERRED])
def test_a_move_stays_in_the_scope_of_each_source(engine: Scenario, scope_type: AncestorScopeType) -> None:
    engine.deploy(repeated()).start(items=[1, 2]).complete("a")
    scopes = [each.scope_key for each in active(engine, "deep")]

    engine.modify(move("deep", "more", ancestor_scope_type=scope_type))

    assert [each.scope_key for each in active(engine, "more")] == scopes
    assert active(engine, "deep") == []


def test_a_move_infers_the_scope_that_source_and_target_share(engine: Scenario) -> None:
    outer = sub_process("outer").start().service_task("first", type="first")
    inner = sub_process("inner").start().service_task("deep", type="deep").end()
    engine.deploy(process("order").start().embed(outer.embed(inner).end()).end()).start()
    engine.modify(activate("outer"))
    scopes = [each.key for each in active(engine, "outer")]
    inferred = {"ancestor_scope_type": AncestorScopeType.INFERRED}

    engine.modify(move("first", "deep", **inferred))

    assert [each.scope_key for each in active(engine, "inner")] == scopes
    engine.modify(move("deep", "first", **inferred))
    assert [each.scope_key for each in active(engine, "first")] == scopes
    assert active(engine, "inner") == []


def test_a_move_goes_to_the_ancestor_that_it_names(engine: Scenario) -> None:
    engine.deploy(nested()).start().complete("before").modify(activate("outer"))
    _, second = active(engine, "inner")

    engine.modify(move(active(engine, "deep")[0].key, "deep", ancestor_element_instance_key=second.key))

    assert [each.scope_key for each in active(engine, "deep")] == [second.key, second.key]
    assert len(active(engine, "outer")) == 1


# Refusals


def test_a_process_instance_that_is_not_active_cannot_be_modified(engine: Scenario) -> None:
    engine.deploy(order()).start().cancel()

    refused = engine.refusal(engine.modification(activate("b")))

    assert refused.type is RejectionType.NOT_FOUND
    assert refused.reason == f"no active process instance with key {engine.instance_key}"


def race() -> ProcessBuilder:
    builder = process("race").start().service_task("a", type="a").event_based_gateway("choose")
    builder.timer_catch("soon", duration="PT1H").end().branch("choose").timer_catch("later", duration="PT2H")
    builder.end().boundary_timer("late", on="a", duration="PT3H").end()
    return builder


@pytest.mark.parametrize(
    ("element_id", "reason"),
    [
        ("nowhere", "process 'race' has no element 'nowhere' to activate"),
        ("soon", "'soon' is behind an event-based gateway, and cannot be activated"),
        ("start", "'start' is a START_EVENT, and cannot be activated"),
        ("late", "'late' is a BOUNDARY_EVENT, and cannot be activated"),
        ("race", "'race' is a PROCESS, and cannot be activated"),
    ],
)
def test_some_elements_cannot_be_activated(engine: Scenario, element_id: str, reason: str) -> None:
    engine.deploy(race()).start()

    assert refusal(engine, activate(element_id)) == reason
    assert refusal(engine, move("a", element_id)) == reason


def test_a_sequence_flow_cannot_be_activated(engine: Scenario) -> None:
    engine.deploy(order()).start()
    flow_id = next(iter(engine.state.definition_of(engine.instance).process.flows))

    assert refusal(engine, activate(flow_id)) == f"'{flow_id}' is a SEQUENCE_FLOW, and cannot be activated"


def test_refusals_come_in_the_order_of_camunda(engine: Scenario) -> None:
    """Each instruction has one fault less than the one before it."""
    engine.deploy(nested()).start()
    unknown = Key(42)

    reasons = [
        refusal(engine, activate("nowhere"), activate("start"), terminate(unknown)),
        refusal(engine, activate("start"), terminate(unknown)),
        refusal(engine, activate("deep", nowhere={}), terminate(unknown)),
        refusal(engine, activate("deep", nowhere={}, after={}), activate("after", within=unknown)),
        refusal(engine, activate("deep", after={}), activate("after", within=unknown)),
        refusal(engine, activate("after", within=unknown), terminate("before")),
        refusal(engine, activate("after", within=engine.element("before").key)),
        refusal(engine, activate("after"), terminate(engine.instance_key)),
    ]

    assert reasons == [
        "process 'nested' has no element 'nowhere' to activate",
        "'start' is a START_EVENT, and cannot be activated",
        "it has no active element instance 42 to terminate",
        "process 'nested' has no scope 'nowhere' for variables",
        "variables of 'after' cannot be set, which is no flow scope of 'deep'",
        "it has no active element instance 42 that could be an ancestor",
        f"element instance {engine.element('before').key} of 'before' is no ancestor of 'after'",
        f"'after' needs element instance {engine.instance_key}, which is terminated",
    ]


def test_a_source_is_named_once_and_is_there(engine: Scenario) -> None:
    engine.deploy(order()).start()

    assert refusal(engine, move("a", "b"), move("a", "a")) == (
        "several move instructions have source element 'a'"
    )
    assert refusal(engine, move(Key(42), "b")) == "it has no active element instance 42 to move"


def test_element_instances_of_another_process_instance_are_refused(engine: Scenario) -> None:
    engine.deploy(nested()).start().complete("before")
    foreign = engine.element("inner").key
    engine.start()

    assert refusal(engine, activate("deep", within=foreign)) == (
        f"it has no active element instance {foreign} that could be an ancestor"
    )
    assert refusal(engine, terminate(foreign)) == f"it has no active element instance {foreign} to terminate"
    assert refusal(engine, move(foreign, "after")) == f"it has no active element instance {foreign} to move"


def test_a_scope_that_is_terminated_gets_no_elements(engine: Scenario) -> None:
    engine.deploy(nested()).start().complete("before")
    inner, outer = engine.element("inner").key, engine.element("outer").key

    expected = f"'deep' needs element instance {outer}, which is terminated"
    assert refusal(engine, activate("deep"), terminate("outer")) == expected
    assert refusal(engine, activate("deep", within=inner), terminate(outer)) == expected


def test_a_scope_that_does_not_run_yet_gets_no_elements(engine: Scenario) -> None:
    inner = sub_process("inner").start().service_task("deep", type="deep").end()
    engine.deploy(process("order").start().embed(inner, inputs={"x": FAILING}).end()).start()

    key = engine.element("inner").key
    assert refusal(engine, activate("deep")) == f"'deep' needs element instance {key}, which is not active"


def interrupted() -> ProcessBuilder:
    """Tasks `a` and `b`; a timer interrupts them, and `help` with task `tell` begins. It also catches errors."""
    late = event_sub_process("help").start_timer("late", duration="PT2M").service_task("tell", type="tell")
    wrong = event_sub_process("mend").start_error("wrong", error="oops").service_task("undo", type="undo")
    return order().declare_error("oops", "E").beside(late.end()).beside(wrong.end())


def test_a_scope_that_was_interrupted_goes_on_with_what_is_activated(engine: Scenario) -> None:
    engine.deploy(interrupted()).start().advance(2 * MINUTE)

    engine.modify(activate("a")).complete("a")

    assert standing(engine) == ["help", "tell", "b"]
    engine.complete("tell").complete("b")
    assert engine.is_completed


def test_a_scope_that_goes_on_can_be_interrupted_again(engine: Scenario) -> None:
    engine.deploy(interrupted()).start().advance(2 * MINUTE).modify(activate("b"))

    thrown = job_commands.ThrowJobError(
        tenant_id=engine.tenant_id, job_key=engine.job("b").key, error_code="E"
    )
    engine.execute(thrown)

    assert standing(engine) == ["mend", "undo"]


def test_no_instance_of_a_repeated_activity_is_made_alone(engine: Scenario) -> None:
    engine.deploy(repeated()).start(items=[1])

    reason = refusal(engine, activate("deep"))

    assert reason == "'each' is a multi-instance activity, which has to be activated itself"


def test_a_scope_whose_events_cannot_be_waited_for_refuses_everything(engine: Scenario) -> None:
    builder = nested().boundary_timer("late", on="outer", duration="=nothing").end()
    engine.deploy(builder).start(x=1)
    before = standing(engine)

    reason = refusal(engine, activate("after", root={"x": 2}), activate("deep"), terminate("before"))

    assert reason.startswith("'outer' cannot wait for its events: ")
    assert standing(engine) == before
    assert engine.variables() == {"x": 1}
    engine.modify(activate("deep", root={"nothing": "PT1H"}))
    assert "deep" in standing(engine)


# Bounds


def test_a_modification_activates_as_much_as_fits_into_a_turn() -> None:
    engine = Scenario(limits=EngineLimits(modification_steps=10 * ENTERING_STEPS))
    engine.deploy(order()).start()

    assert refusal(engine, *[activate("b")] * 11) == "it would be too much at once: divide the instructions"
    engine.modify(*[activate("b")] * 10)
    assert len(active(engine, "b")) == 10


def test_variables_of_many_moves_count() -> None:
    engine = Scenario(limits=EngineLimits(modification_steps=10 * ENTERING_STEPS))
    engine.deploy(order()).start().modify(*[activate("a")] * 2)
    large = activate("b", b={"x": "y" * 10_000}).variable_instructions

    assert refusal(engine, move("a", "b", variable_instructions=large)).startswith("it would be too much")
    engine.modify(move(engine.element("a").key, "b", variable_instructions=large))


def test_a_modification_terminates_up_to_a_bound() -> None:
    engine = Scenario(limits=EngineLimits(terminations=2))
    engine.deploy(order()).start().modify(activate("b"), activate("b"))

    assert refusal(engine, terminate("a"), terminate("b")) == (
        "it would terminate more than 2 element instances at once"
    )
    engine.modify(terminate("b"))
    assert standing(engine) == ["a"]


def test_a_large_modification_goes_on_in_later_turns() -> None:
    engine = Scenario(limits=EngineLimits(slice_steps=1_000))
    engine.deploy(nested()).start().complete("before").modify(*[activate("deep")] * 40)

    engine.modify(move("deep", "after"))

    assert standing(engine) == ["after"] * 41
    assert len(engine.offered) == 41
    assert any(isinstance(event, events.WorkPostponed) for event in engine.last_events)
    engine.expect_laws()


def test_what_ends_before_its_turn_stays_ended() -> None:
    """A job is completed between two slices; its path goes on, and ends the scope when the rest is terminated."""
    engine = Sliced()
    engine.deploy(nested()).start().go_on()
    engine.complete("before").go_on()
    engine.modify(*[activate("deep")] * 2 * TERMINATED_AT_ONCE)
    while engine.instance.work:
        engine.go_on()
    *others, last = active(engine, "deep")
    assert last.job_key is not None

    engine.modify(*(terminate(each.key) for each in others))
    engine.execute(job_commands.CompleteJob("default", last.job_key))
    left = len(active(engine, "deep"))
    while engine.instance.work:
        engine.go_on()

    assert left > 0
    assert standing(engine) == ["after"]
    engine.expect_laws()


def test_timers_of_terminated_scopes_are_gone(engine: Scenario) -> None:
    builder = nested().boundary_timer("late", on="outer", duration="PT1M").end()
    engine.deploy(builder).start().complete("before").modify(activate("after"), terminate("deep"))

    engine.advance(MINUTE)

    assert standing(engine) == ["after"]
