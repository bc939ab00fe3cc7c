"""Signals within one partition; `tests.server.partition.test_signals` has those that go to others."""

from datetime import timedelta
from typing import cast

import pytest

from server.bpmn.builder import ProcessBuilder, event_sub_process, process, sub_process
from server.engine import events, process_instance_commands, signal_commands
from server.engine import process as handle
from server.engine.handlers.signal import TRIGGERED_AT_ONCE
from server.engine.incidents import ErrorType
from server.engine.keys import Key
from server.engine.lifecycle import ElementState
from server.engine.limits import EngineLimits
from server.engine.messages import MOST_CHARACTERS
from server.engine.ordered_keys import OrderedKeys
from server.engine.rejection import RejectionType
from server.engine.sent import EVERY_OTHER, CommandSent
from server.engine.signal_events import BroadcastPostponed
from server.engine.state import NotLoaded
from tests.server.engine.scenario import Scenario

HOUR = timedelta(hours=1)


def waiting(process_id: str = "order", signal: str = "alarm", **outputs: str) -> ProcessBuilder:
    return process(process_id).signal_catch("wait", signal=signal, outputs=outputs).end("done")


def guarded(*, is_interrupting: bool = True) -> ProcessBuilder:
    """A task with a signal at its boundary."""
    return (
        process("order").service_task("ship", type="ship").end("done")
        .boundary_signal("alarm", on="ship", signal="alarm", is_interrupting=is_interrupting)
        .service_task("tell", type="tell").end("told")
    )  # fmt: skip


def throwing(**inputs: str) -> ProcessBuilder:
    return process("alarm").throw_signal("throw", signal="alarm", inputs=inputs).end("thrown")


# Catching


def test_a_broadcast_goes_to_everything_that_waits_for_its_name(engine: Scenario) -> None:
    engine.deploy(waiting(), waiting("other"), waiting("else", "Alarm"))
    first, second = engine.start("order").instance_key, engine.start("order").instance_key
    third, fourth = engine.start("other").instance_key, engine.start("else").instance_key

    engine.broadcast("alarm", level=5)

    assert engine.state.instances.keys() == {fourth}
    assert [engine.variables(key) for key in (first, second, third)] == [{"level": 5}] * 3


def test_a_signal_is_not_buffered(engine: Scenario) -> None:
    engine.deploy(waiting()).broadcast("alarm").start()

    assert engine.element("wait").state is ElementState.ACTIVATED
    assert engine.state.signals.broadcasts == {}


def test_the_answer_has_a_key_even_when_nothing_waits(engine: Scenario) -> None:
    command = signal_commands.BroadcastSignal("default", "alarm")

    first, second = engine.execute(command), engine.execute(command)

    assert first != second


def test_a_signal_of_another_tenant_triggers_nothing(engine: Scenario) -> None:
    engine.deploy(waiting()).start()

    engine.execute(signal_commands.BroadcastSignal("other", "alarm"))

    assert engine.is_running


def test_the_name_of_a_signal_may_be_an_expression(engine: Scenario) -> None:
    engine.deploy(waiting(signal='="alarm-" + kind')).start(kind="fire")

    engine.broadcast("alarm-water").broadcast("alarm-fire")

    assert engine.path == ["start", "wait", "done"]


@pytest.mark.parametrize("kind", [None, 7, True, ["alarm"]])
def test_a_name_that_is_no_text_is_an_incident_that_can_be_mended(engine: Scenario, kind: object) -> None:
    engine.deploy(waiting(signal="=kind")).start(kind=kind)
    assert engine.incident.error_type is ErrorType.EXTRACT_VALUE_ERROR
    assert "Expected result of the expression 'kind' to be 'STRING'" in engine.incident.message

    engine.execute(
        process_instance_commands.SetVariables(
            tenant_id="default",
            process_instance_key=engine.instance_key,
            element_instance_key=engine.instance_key,
            variables={"kind": '"alarm"'},
        )
    )
    engine.resolve().broadcast("alarm")

    assert engine.is_completed


def test_a_name_that_is_too_long_is_an_incident(engine: Scenario) -> None:
    engine.deploy(waiting(signal="=kind")).start(kind="x" * MOST_CHARACTERS)
    assert engine.is_running
    assert engine.instance.incidents == {}

    engine.start(kind="x" * (MOST_CHARACTERS + 1))

    assert f"{MOST_CHARACTERS} characters at most, found {MOST_CHARACTERS + 1}" in engine.incident.message


def test_outputs_decide_what_comes_of_the_variables(engine: Scenario) -> None:
    engine.deploy(waiting(total="=amount + 1")).start().broadcast("alarm", amount=1)

    assert engine.variables() == {"total": 2}


# On a boundary, in event sub-processes, behind gateways


def test_an_interrupting_signal_ends_its_task(engine: Scenario) -> None:
    engine.deploy(guarded()).start()

    engine.broadcast("alarm", text="fire")

    assert engine.path == ["start", "alarm"]
    assert engine.offered == ["tell"]
    assert engine.variables() == {"text": "fire"}
    assert engine.state.signals.waiting == {}


def test_one_that_does_not_interrupt_comes_again_and_again(engine: Scenario) -> None:
    engine.deploy(guarded(is_interrupting=False)).start()

    engine.broadcast("alarm").broadcast("alarm")
    assert engine.offered == ["ship", "tell", "tell"]

    engine.complete("ship").broadcast("alarm")
    assert engine.offered == ["tell", "tell"]
    assert engine.state.signals.waiting == {}


@pytest.mark.parametrize("is_interrupting", [True, False])
def test_a_signal_begins_an_event_sub_process(engine: Scenario, *, is_interrupting: bool) -> None:
    help_ = event_sub_process("help").start_signal("told", signal="alarm", is_interrupting=is_interrupting)
    engine.deploy(
        process("order").start().service_task("ship", type="ship").end()
        .beside(help_.service_task("tell", type="tell").end("helped"))
    )  # fmt: skip
    engine.start()

    engine.broadcast("alarm", n=1).broadcast("alarm", n=2)

    if is_interrupting:
        assert engine.offered == ["tell"]
        assert engine.variables() == {"n": 1}
        assert engine.complete("tell").is_completed
    else:
        assert engine.offered == ["ship", "tell", "tell"]
        engine.complete("tell").complete("tell").complete("ship")
        assert engine.is_completed


def test_what_interrupts_a_scope_comes_before_what_waits_inside_it(engine: Scenario) -> None:
    inside = sub_process("inside").start().signal_catch("wait", signal="alarm").end()
    engine.deploy(
        process("order").start().embed(inside).end()
        .boundary_signal("stop", on="inside", signal="alarm").end("stopped")
    )  # fmt: skip

    engine.start().broadcast("alarm")

    assert engine.path == ["start", "inside_start", "stop", "stopped"]


def test_the_first_event_behind_a_gateway_closes_the_others(engine: Scenario) -> None:
    race = (
        process("order").event_based_gateway("race")
        .signal_catch("alarmed", signal="alarm").end("by signal")
        .branch("race").timer_catch("late", duration="PT1H").end("by timer")
    )  # fmt: skip
    engine.deploy(race)

    engine.start().broadcast("alarm", n=1)
    assert engine.path[-2:] == ["alarmed", "by signal"]
    assert engine.variables() == {"n": 1}

    engine.start().advance(HOUR)
    assert engine.path[-2:] == ["late", "by timer"]
    assert engine.state.signals.waiting == {}


def test_two_elements_of_one_instance_are_both_triggered(engine: Scenario) -> None:
    both = (
        process("order").parallel_gateway("fork").signal_catch("one", signal="alarm").parallel_gateway("join")
    )
    engine.deploy(both.end().branch("fork").signal_catch("two", signal="alarm").connect_to("join"))

    engine.start().broadcast("alarm")

    assert engine.is_completed


def test_what_begins_to_wait_through_a_broadcast_is_not_triggered_by_it(engine: Scenario) -> None:
    again = process("order").signal_catch("one", signal="alarm").signal_catch("two", signal="alarm").end()
    engine.deploy(again).start()

    engine.broadcast("alarm")
    assert engine.element("two").state is ElementState.ACTIVATED

    assert engine.broadcast("alarm").is_completed


def test_an_instance_that_ends_waits_no_longer(engine: Scenario) -> None:
    engine.deploy(waiting(), guarded()).start("order")

    engine.cancel()

    assert engine.state.signals.waiting == {}
    engine.broadcast("alarm")
    assert engine.path == ["start"]


def test_one_that_cannot_be_left_yet_is_not_triggered_again(engine: Scenario) -> None:
    engine.deploy(waiting(total="=assert(ok, ok)")).start().broadcast("alarm", ok=None)
    assert engine.element("wait").state is ElementState.COMPLETING

    engine.broadcast("alarm", ok=True)

    assert engine.element("wait").state is ElementState.COMPLETING


# Throwing


@pytest.mark.parametrize("is_end", [True, False])
def test_a_throwing_event_broadcasts_its_local_variables(engine: Scenario, *, is_end: bool) -> None:
    thrower = process("alarm").start()
    thrower = (
        thrower.end_signal("throw", signal="alarm", inputs={"level": "=n + 1"})
        if is_end
        else thrower.throw_signal("throw", signal="alarm", inputs={"level": "=n + 1"}).end()
    )
    engine.deploy(waiting(), thrower)
    caught = engine.start("order").instance_key

    thrown = engine.start("alarm", n=1).instance_key

    assert engine.state.instances == {}
    assert engine.variables(caught) == {"level": 2}
    assert engine.variables(thrown) == {"n": 1}


def test_a_throwing_event_without_input_mappings_broadcasts_nothing_beside_the_name(engine: Scenario) -> None:
    engine.deploy(waiting(), throwing())
    caught = engine.start("order").instance_key

    engine.start("alarm", n=1)

    assert engine.variables(caught) == {}


def test_the_name_that_is_thrown_may_be_an_expression(engine: Scenario) -> None:
    engine.deploy(waiting(), process("thrower").throw_signal("throw", signal="=name").end())
    caught = engine.start("order").instance_key

    engine.start("thrower", name=7)
    assert engine.incident.error_type is ErrorType.EXTRACT_VALUE_ERROR
    assert engine.incident.element_id == "throw"

    engine.start("thrower", name="alarm")
    assert caught not in engine.state.instances


@pytest.mark.parametrize("is_first", [True, False])
def test_an_instance_can_throw_to_a_parallel_path(engine: Scenario, *, is_first: bool) -> None:
    fork = process("order").parallel_gateway("fork")
    if is_first:
        fork.throw_signal("throw", signal="alarm").end("thrown").branch("fork")
        fork.signal_catch("wait", signal="alarm").end("caught")
    else:
        fork.signal_catch("wait", signal="alarm").end("caught").branch("fork")
        fork.throw_signal("throw", signal="alarm").end("thrown")
    engine.deploy(fork)

    engine.start()

    assert engine.is_completed


def test_a_signal_is_broadcast_when_its_path_was_ended_before(engine: Scenario) -> None:
    """Another path ends all of the process instance between the throwing event and the broadcast."""
    engine.deploy(
        waiting("other"),
        process("order").parallel_gateway("fork").throw_signal("throw", signal="alarm").service_task("a", type="a")
        .end().branch("fork").end_terminate("stop"),
    )  # fmt: skip
    engine.start("other")

    engine.start("order")

    assert engine.state.instances == {}


def test_what_follows_a_throwing_event_does_not_catch_what_it_has_thrown(engine: Scenario) -> None:
    engine.deploy(
        process("order").throw_signal("throw", signal="alarm").signal_catch("wait", signal="alarm").end()
    )

    engine.start()

    assert engine.element("wait").state is ElementState.ACTIVATED
    assert engine.broadcast("alarm").is_completed


@pytest.mark.parametrize("is_interrupting", [True, False])
def test_a_signal_from_inside_triggers_the_boundary_before_its_path_goes_on(
    engine: Scenario, *, is_interrupting: bool
) -> None:
    inside = (
        sub_process("inside").throw_signal("throw", signal="alarm").service_task("next", type="next").end()
    )
    engine.deploy(
        process("order").start().embed(inside).end()
        .boundary_signal("alarm", on="inside", signal="alarm", is_interrupting=is_interrupting)
        .service_task("tell", type="tell").end()
    )  # fmt: skip

    engine.start()

    assert sorted(engine.offered) == (["tell"] if is_interrupting else ["next", "tell"])
    entered = [each.element_id for each in engine.happened(events.ElementActivating)]
    assert is_interrupting or entered.index("alarm") < entered.index("next")


def test_signals_that_are_thrown_to_each_other_end(engine: Scenario) -> None:
    """Each answers once, and waits for nothing after that."""
    engine.deploy(
        process("ping").signal_catch("wait", signal="ping").end_signal("throw", signal="pong"),
        process("pong").signal_catch("wait", signal="pong").end_signal("throw", signal="ping"),
    )
    engine.start("pong").start("ping")

    engine.broadcast("ping")

    assert engine.state.instances == {}


def test_a_broadcast_is_sent_to_every_other_partition(engine: Scenario) -> None:
    engine.broadcast("alarm", n=1)
    engine.deploy(throwing(level="=1")).start()

    sent = [event for event in engine.events if isinstance(event, CommandSent)]
    assert sent == [
        CommandSent(EVERY_OTHER, signal_commands.ReceiveSignal("default", "alarm", {"n": "1"})),
        CommandSent(EVERY_OTHER, signal_commands.ReceiveSignal("default", "alarm", {"level": "1"})),
    ]


def test_one_from_another_partition_triggers_what_waits_here_and_is_sent_no_further(engine: Scenario) -> None:
    engine.deploy(waiting()).start()

    engine.execute(signal_commands.ReceiveSignal("default", "alarm", {"n": "1"}))

    assert engine.is_completed
    assert not any(isinstance(event, CommandSent) for event in engine.events)


# Migration


def test_a_migrated_instance_keeps_its_signal(engine: Scenario) -> None:
    engine.deploy(waiting("old", "=name"), process("new").signal_catch("await", signal="other").end("end"))
    engine.start("old", name="alarm")

    engine.migrate("new", {"wait": "await"}).broadcast("other")
    assert engine.is_running

    assert engine.broadcast("alarm").is_completed


def test_migration_opens_and_closes_subscriptions_of_events_that_are_not_mapped(engine: Scenario) -> None:
    new = (
        process("new").service_task("ship", type="ship").end()
        .boundary_signal("news", on="ship", signal="news").end("told")
    )  # fmt: skip
    engine.deploy(guarded(), new).start("order")

    engine.migrate("new", {"ship": "ship"}).broadcast("alarm")
    assert engine.offered == ["ship"]

    engine.broadcast("news")
    assert engine.path[-2:] == ["news", "told"]


def test_a_signal_is_mapped_to_no_other_trigger(engine: Scenario) -> None:
    engine.deploy(waiting("old"), process("new").timer_catch("wait", duration="PT1H").end()).start("old")

    refusal = engine.refusal(engine.migration("new", {"wait": "wait"}))

    assert refusal.type is RejectionType.INVALID_STATE
    assert "wait for different triggers" in refusal.reason


# Many


def test_a_broadcast_to_many_goes_in_slices(engine: Scenario) -> None:
    engine.deploy(waiting())
    for _ in range(2 * TRIGGERED_AT_ONCE + 1):
        engine.start()

    engine.broadcast("alarm")

    assert engine.state.instances == {}
    postponed = [event for event in engine.events if isinstance(event, BroadcastPostponed)]
    assert len(postponed) == 2


def test_a_broadcast_to_ten_thousand_is_done_a_hundred_at_a_time() -> None:
    scenario = Scenario().deploy(waiting())
    keys = [scenario.start().instance_key for _ in range(10_000)]

    left = []
    outcome = handle(scenario.state, signal_commands.BroadcastSignal("default", "alarm"), scenario.now)
    while broadcast := next(iter(scenario.state.signals.broadcasts.values()), None):
        left.append(len(scenario.state.instances))
        assert len(outcome.changed) <= TRIGGERED_AT_ONCE + 1
        command = signal_commands.ContinueBroadcast("default", broadcast.key)
        outcome = handle(scenario.state, command, scenario.now)

    assert left == list(range(len(keys) - TRIGGERED_AT_ONCE, -1, -TRIGGERED_AT_ONCE))
    assert scenario.state.instances == {}


def test_slices_trigger_each_once_that_stays_and_none_that_began_to_wait_meanwhile() -> None:
    scenario = Scenario().deploy(guarded(is_interrupting=False))
    for _ in range(TRIGGERED_AT_ONCE + 1):
        scenario.start()

    begun = handle(scenario.state, signal_commands.BroadcastSignal("default", "alarm"), scenario.now)
    scenario.happens(begun.events)
    late = scenario.start().instance_key

    told = [cast("events.JobCreated", each).instance.key for each in scenario.events if _is_told(each)]
    assert len(told) == len(set(told)) == TRIGGERED_AT_ONCE + 1
    assert late not in told
    scenario.expect_laws()


def _is_told(event: events.Event) -> bool:
    return isinstance(event, events.JobCreated) and event.type == "tell"


def test_a_slice_that_did_enough_leaves_the_rest_to_the_next() -> None:
    limits = EngineLimits(slice_steps=2_000)
    scenario = Scenario(limits=limits).deploy(waiting())
    for _ in range(30):
        scenario.start()

    scenario.broadcast("alarm")

    assert scenario.state.instances == {}
    scenario.expect_laws()


def test_a_command_that_did_enough_before_its_broadcast_leaves_that_to_the_next_turn() -> None:
    fork = process("order").parallel_gateway("fork").throw_signal("throw", signal="alarm").end("thrown")
    fork.branch("fork").task("busy").end("done")
    scenario = Scenario(limits=EngineLimits(slice_steps=700)).deploy(waiting("other"), fork).start("other")

    command = process_instance_commands.CreateProcessInstance(
        tenant_id="default", process_definition_id="order"
    )
    happened = handle(scenario.state, command, scenario.now).events
    scenario.happens(happened)

    assert {events.WorkPostponed, BroadcastPostponed} <= {*map(type, happened)}
    (broadcast_key,) = scenario.state.signals.broadcasts
    scenario.execute(signal_commands.ContinueBroadcast("default", broadcast_key))
    assert scenario.state.instances == {}
    scenario.expect_laws()


def test_a_broadcast_that_is_postponed_is_a_document_until_it_ends() -> None:
    scenario = Scenario().deploy(waiting())
    for _ in range(TRIGGERED_AT_ONCE + 1):
        scenario.start()

    handle(scenario.state, signal_commands.BroadcastSignal("default", "alarm", {"n": "1"}), scenario.now)

    (found,) = scenario.state.signals.broadcasts.values()
    assert (found.signal_name, found.variables, found.postponed_at) == ("alarm", {"n": "1"}, scenario.now)


def test_callers_begin_no_broadcast_while_too_many_of_theirs_are_not_finished() -> None:
    scenario = Scenario(limits=EngineLimits(tenant_broadcasts=1)).deploy(waiting())
    for _ in range(TRIGGERED_AT_ONCE):
        scenario.start()
    handle(scenario.state, signal_commands.BroadcastSignal("default", "alarm"), scenario.now)

    refusal = scenario.refusal(signal_commands.BroadcastSignal("default", "alarm"))

    assert refusal.type is RejectionType.BUSY
    assert refusal.reason == "1 broadcasts of the tenant are not finished"
    scenario.execute(signal_commands.BroadcastSignal("other", "alarm"))
    scenario.broadcast("alarm")


def test_all_instances_that_a_slice_needs_are_loaded_at_once() -> None:
    scenario = Scenario().deploy(waiting())
    keys = [scenario.start().instance_key for _ in range(TRIGGERED_AT_ONCE + 1)]
    for key in keys:
        scenario.state.evict(key)

    with pytest.raises(NotLoaded) as absent:
        handle(scenario.state, signal_commands.BroadcastSignal("default", "alarm"), scenario.now)

    assert {document.key for document in absent.value.documents} == set(keys[:TRIGGERED_AT_ONCE])


def test_a_command_that_did_much_before_it_throws_leaves_what_is_not_loaded_to_the_next_turn() -> None:
    """It is not done anew when these are loaded."""
    busy = process("busy").start()
    for number in range(30):
        busy.task(f"t{number}")
    scenario = Scenario().deploy(waiting(), busy.throw_signal("throw", signal="alarm").end())
    key = scenario.start("order").instance_key
    instance = scenario.state.instances[key]
    scenario.state.evict(key)

    command = process_instance_commands.CreateProcessInstance(
        tenant_id="default", process_definition_id="busy"
    )
    scenario.happens(handle(scenario.state, command, scenario.now).events)

    (broadcast_key,) = scenario.state.signals.broadcasts
    going_on = signal_commands.ContinueBroadcast("default", broadcast_key)
    with pytest.raises(NotLoaded):
        handle(scenario.state, going_on, scenario.now)
    scenario.state.bring_back(instance)
    scenario.execute(going_on)
    assert scenario.state.instances == {}
    scenario.expect_laws()


def test_a_called_process_catches_a_signal_and_is_interrupted_by_one(engine: Scenario) -> None:
    caller = (
        process("caller").start().call_activity("call", process="order").end("returned")
        .boundary_signal("stop", on="call", signal="stop").end("stopped")
    )  # fmt: skip
    engine.deploy(waiting(), caller).start("caller")
    engine.broadcast("alarm")
    assert engine.path == ["start", "call", "returned"]

    engine.start("caller").broadcast("stop")

    assert engine.path == ["start", "stop", "stopped"]
    assert engine.state.instances == {}


class Counted(OrderedKeys[Key, Key]):
    """Counts how often a subscription is looked at."""

    __slots__ = ("looks",)

    def __init__(self, line: OrderedKeys[Key, Key]) -> None:
        super().__init__()
        self.looks = 0
        for key in line.after():
            self.put(key, line[key])

    def __getitem__(self, key: Key) -> Key:
        self.looks += 1
        return super().__getitem__(key)


def test_a_slice_looks_at_what_it_triggers_however_many_had_the_signal_before() -> None:
    """They still wait, because it does not interrupt them."""
    scenario = Scenario().deploy(guarded(is_interrupting=False))
    for _ in range(3 * TRIGGERED_AT_ONCE):
        scenario.start()
    known = scenario.state.signals
    place = ("default", "alarm")
    line = known.waiting[place] = Counted(known.waiting[place])
    looks = []

    handle(scenario.state, signal_commands.BroadcastSignal("default", "alarm"), scenario.now)
    while known.broadcasts:
        (key,) = known.broadcasts
        looks.append(line.looks)
        handle(scenario.state, signal_commands.ContinueBroadcast("default", key), scenario.now)

    assert looks == [TRIGGERED_AT_ONCE, 2 * TRIGGERED_AT_ONCE, 3 * TRIGGERED_AT_ONCE]
    assert len(line) == 3 * TRIGGERED_AT_ONCE


def test_a_broadcast_costs_what_it_triggers_however_many_wait_for_other_signals() -> None:
    scenario = Scenario().deploy(waiting(), waiting("other", "=name"))
    for number in range(300):
        scenario.start("other", name=f"alarm-{number}")
    scenario.start("order")

    outcome = handle(scenario.state, signal_commands.BroadcastSignal("default", "alarm"), scenario.now)

    assert len(outcome.changed) == 2
    assert len(scenario.state.signals.waiting) == 300
