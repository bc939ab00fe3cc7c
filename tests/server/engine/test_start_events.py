"""Start events of processes: messages, signals and timers begin process instances of the latest version."""

from datetime import timedelta

import pytest

from server.bpmn.builder import ProcessBuilder, event_sub_process, process
from server.engine import (
    deployment_commands,
    events,
    message_commands,
    process_instance_commands,
    signal_commands,
    timer_commands,
)
from server.engine import process as handle
from server.engine.handlers.signal import TRIGGERED_AT_ONCE
from server.engine.incidents import ErrorType
from server.engine.keys import Key
from server.engine.limits import EngineLimits
from server.engine.messages import MOST_CHARACTERS
from server.engine.rejection import RejectionType
from server.engine.sent import CommandSent
from server.engine.start_timers import timers_home
from tests.durable import EPOCH
from tests.server.engine.scenario import Scenario, resource

SECOND, MINUTE, HOUR, DAY = (
    timedelta(seconds=1),
    timedelta(minutes=1),
    timedelta(hours=1),
    timedelta(days=1),
)


def by_message(process_id: str = "order", name: str = "ordered", **outputs: str) -> ProcessBuilder:
    builder = process(process_id).start_message("begun", message=name, outputs=outputs)
    return builder.service_task("ship", type="ship").end("done")


def by_signal(process_id: str = "order", name: str = "alarm", **outputs: str) -> ProcessBuilder:
    builder = process(process_id).start_signal("begun", signal=name, outputs=outputs)
    return builder.service_task("ship", type="ship").end("done")


def by_timer(process_id: str = "order", **timer: str) -> ProcessBuilder:
    return process(process_id).start_timer("begun", **timer).service_task("ship", type="ship").end("done")


def running(engine: Scenario) -> list[str]:
    """The process ids of what runs, the oldest first; the last one becomes the instance of the story."""
    instances = sorted(engine.state.instances.values(), key=lambda each: each.head.key)
    if instances:
        engine.instance_key = instances[-1].head.key
    return [each.head.process_definition_id for each in instances]


def versions(engine: Scenario) -> list[int]:
    return [engine.state.instances[key].head.version for key in sorted(engine.state.instances)]


# Messages


def test_a_message_begins_an_instance_at_its_start_event(engine: Scenario) -> None:
    engine.deploy(by_message()).publish("paid", "a").publish("ordered", "a", amount=5)

    assert running(engine) == ["order"]
    assert engine.path == ["begun"]
    assert engine.offered == ["ship"]
    assert engine.variables() == {"amount": 5}


def test_a_process_may_begin_in_several_ways(engine: Scenario) -> None:
    model = (
        process("order").start("by hand").exclusive_gateway("merge").service_task("ship", type="ship").end()
        .start_message("by message", message="ordered").connect_to("merge")
        .start_signal("by signal", signal="alarm").connect_to("merge")
    )  # fmt: skip
    engine.deploy(model).start()
    assert engine.path == ["by hand", "merge"]

    engine.publish("ordered")
    assert running(engine) == ["order"] * 2
    assert engine.path == ["by message", "merge"]

    engine.broadcast("alarm")
    assert running(engine) == ["order"] * 3
    assert engine.path == ["by signal", "merge"]


def test_a_process_without_a_none_start_event_cannot_be_started_by_hand(engine: Scenario) -> None:
    engine.deploy(by_message())

    refusal = engine.refusal(
        process_instance_commands.CreateProcessInstance(tenant_id="default", process_definition_id="order")
    )

    assert refusal.type is RejectionType.INVALID_STATE
    assert refusal.reason == "process 'order' has no none start event to start from"


def test_outputs_of_the_start_event_decide_what_comes_of_the_variables(engine: Scenario) -> None:
    engine.deploy(by_message(total="=amount + 1")).publish("ordered", amount=1)

    running(engine)
    assert engine.variables() == {"total": 2}


def test_a_failing_output_of_the_start_event_is_an_incident(engine: Scenario) -> None:
    engine.deploy(by_message(total="=assert(ok, ok)")).publish("ordered")

    running(engine)
    assert engine.incident.error_type is ErrorType.IO_MAPPING_ERROR
    assert engine.incident.element_id == "begun"


@pytest.mark.parametrize("outputs", [{}, {"order_id": "=id"}], ids=["as it came", "mapped"])
def test_an_event_sub_process_sees_what_the_message_brought(
    engine: Scenario, outputs: dict[str, str]
) -> None:
    key = "=order_id" if outputs else "=id"
    stop = event_sub_process("stop").start_message("stopped", message="stop", key=key).end()
    engine.deploy(by_message(**outputs).beside(stop)).publish("ordered", id="a")

    assert running(engine) == ["order"]
    assert engine.offered == ["ship"]
    engine.publish("stop", "a")
    assert engine.path[-3:] == ["stopped", "stop_end", "stop"]


def test_an_event_sub_process_that_cannot_be_waited_for_is_an_incident_of_the_start_event(
    engine: Scenario,
) -> None:
    """Resolving it maps nothing again."""
    stop = event_sub_process("stop").start_message("stopped", message="stop", key="=key").end()
    model = by_message(number="=if number = null then 1 else number + 1").beside(stop)
    engine.deploy(model).publish("ordered")
    running(engine)
    assert engine.incident.error_type is ErrorType.EXTRACT_VALUE_ERROR
    assert engine.incident.element_id == "begun"

    instance_key = engine.instance_key
    assert instance_key is not None
    engine.execute(
        process_instance_commands.SetVariables(
            tenant_id="default",
            process_instance_key=instance_key,
            element_instance_key=instance_key,
            variables={"key": '"a"'},
            is_local=False,
        )
    )
    engine.resolve()

    assert engine.offered == ["ship"]
    assert len(engine.instance.subscriptions) == 1
    assert engine.variables() == {"key": "a", "number": 1}


def test_the_events_of_a_process_are_waited_for_once_while_its_start_event_has_listeners(
    engine: Scenario,
) -> None:
    stop = event_sub_process("stop").start_timer("late", is_interrupting=False, duration="PT1H").end()
    model = process("order").start_message("begun", message="ordered")
    model.execution_listener("end", type="one").execution_listener("end", type="two")
    engine.deploy(model.service_task("ship", type="ship").end().beside(stop)).publish("ordered")
    running(engine)

    engine.complete("one").advance(HOUR).complete("two").advance(HOUR)

    assert engine.path.count("late") == 1


def test_one_instance_at_a_time_begins_with_a_correlation_key(engine: Scenario) -> None:
    engine.deploy(by_message())

    engine.publish("ordered", "a").publish("ordered", "a").publish("ordered", "b")

    assert running(engine) == ["order", "order"]
    engine.complete("ship").publish("ordered", "a")
    assert running(engine) == ["order", "order"]


def test_an_empty_correlation_key_begins_as_many_as_come(engine: Scenario) -> None:
    engine.deploy(by_message()).publish("ordered").publish("ordered")

    assert running(engine) == ["order", "order"]


@pytest.mark.parametrize("end", ["complete", "cancel", "terminate"])
def test_a_buffered_message_begins_the_next_instance_when_the_last_one_ends(
    engine: Scenario, end: str
) -> None:
    model = by_message().beside(
        event_sub_process("stop").start_signal("stopped", signal="stop").end_terminate("over")
    )
    engine.deploy(model)
    for number in (1, 2, 3):
        engine.publish("ordered", "a", lives=HOUR, n=number)

    found = []
    while running(engine):
        found.append(engine.variables()["n"])
        if end == "complete":
            engine.complete("ship")
        elif end == "cancel":
            engine.cancel()
        else:
            engine.broadcast("stop")
    assert found == [1, 2, 3]


def test_a_message_that_waited_too_long_begins_nothing(engine: Scenario) -> None:
    engine.deploy(by_message()).publish("ordered", "a").publish("ordered", "a", lives=HOUR)

    engine.advance(HOUR).complete("ship")

    assert running(engine) == []


def test_the_next_message_may_have_another_name(engine: Scenario) -> None:
    """All messages that start a process share its one instance for a correlation key; the earliest goes first."""
    model = by_message().start_message("again", message="reordered").service_task("pack", type="pack").end()
    engine.deploy(model).publish("ordered", "a")

    engine.publish("reordered", "a", lives=HOUR, n=1).publish("ordered", "a", lives=HOUR, n=2)
    assert running(engine) == ["order"]

    engine.complete("ship")
    assert running(engine) == ["order"]
    assert (engine.path, engine.variables()) == (["again"], {"n": 1})
    engine.complete("pack")
    assert running(engine) == ["order"]
    assert (engine.path, engine.variables()) == (["begun"], {"n": 2})


def test_a_message_begins_each_process_once(engine: Scenario) -> None:
    engine.deploy(by_message(), by_message("invoice")).publish("ordered", "a", lives=HOUR)

    assert running(engine) == ["invoice", "order"]
    engine.complete("ship").complete("ship")
    assert running(engine) == []


def test_an_instance_that_waits_gets_the_message_instead_of_a_new_one(engine: Scenario) -> None:
    model = (
        process("order")
        .start_message("begun", message="ordered")
        .message_catch("more", message="ordered", key='="a"')
    )
    engine.deploy(model.service_task("ship", type="ship").end(), by_message("invoice"))
    engine.publish("ordered", "a")
    assert running(engine) == ["invoice", "order"]

    engine.publish("ordered", "a")

    assert running(engine) == ["invoice", "order"]
    assert engine.path == ["begun", "more"]


def test_an_instance_may_wait_for_a_message_before_another_one_begins(engine: Scenario) -> None:
    """The same message begins one process and is waited for by another."""
    waits = process("invoice").message_catch("wait", message="ordered", key="=id").end()
    engine.deploy(waits, by_message()).start("invoice", id="a")

    engine.publish("ordered", "a")

    assert running(engine) == ["order"]


def test_a_new_version_begins_instead_of_the_old_one(engine: Scenario) -> None:
    engine.deploy(by_message()).deploy(by_message(total="=1")).publish("ordered", "a").publish("ordered")

    assert versions(engine) == [2, 2]


def test_a_new_version_without_the_start_event_ends_it(engine: Scenario) -> None:
    engine.deploy(by_message()).deploy(by_message(name="changed")).publish("ordered")
    assert running(engine) == []

    engine.publish("changed")
    assert running(engine) == ["order"]


def test_the_instance_of_an_old_version_keeps_its_correlation_key(engine: Scenario) -> None:
    engine.deploy(by_message()).publish("ordered", "a").deploy(by_message(total="=1"))

    engine.publish("ordered", "a", lives=HOUR)
    assert versions(engine) == [1]

    engine.complete("ship")
    assert versions(engine) == [2]


def test_the_name_may_be_an_expression_without_variables(engine: Scenario) -> None:
    engine.deploy(by_message(name='="or" + "dered"')).publish("ordered")

    assert running(engine) == ["order"]


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (by_message(name="=kind"), "to be 'STRING', but was 'NULL'"),
        (by_signal(name="=1"), "to be 'STRING', but was 'NUMBER'"),
        (by_message(name="x" * (MOST_CHARACTERS + 1)), "characters at most"),
        (by_timer(date="=kind"), "expected a text of ISO 8601"),
        (by_timer(cycle="=1"), "expected a text of ISO 8601"),
    ],
)
def test_a_start_event_that_cannot_be_evaluated_refuses_the_deployment(
    engine: Scenario, model: ProcessBuilder, reason: str
) -> None:
    refusal = engine.refusal(deployment_commands.DeployResources("default", (resource(model),)))

    assert refusal.type is RejectionType.INVALID_ARGUMENT
    assert refusal.reason.startswith("start event 'begun' of process 'order': ")
    assert reason in refusal.reason
    assert engine.state.definitions == {}


# Correlation at once


def test_a_correlated_message_goes_to_what_waits_for_it(engine: Scenario) -> None:
    engine.deploy(process("order").message_catch("wait", message="paid", key="=id").end()).start(id="a")

    answer = engine.correlate("paid", "a", amount=5)

    assert answer.process_instance_key == engine.instance_key
    assert engine.is_completed
    assert engine.variables() == {"id": "a", "amount": 5}


def test_of_several_the_one_that_began_is_the_answer(engine: Scenario) -> None:
    waits = process("invoice").message_catch("wait", message="ordered", key="=id").end()
    engine.deploy(waits, by_message()).start("invoice", id="a")

    answer = engine.correlate("ordered", "a")

    assert running(engine) == ["order"]
    assert answer.process_instance_key == engine.instance_key


@pytest.mark.parametrize(
    ("name", "key"),
    [
        pytest.param("paid", "b", id="another key"),
        pytest.param("sold", "a", id="another name"),
        pytest.param("ordered", "a", id="an instance that runs already"),
    ],
)
def test_a_message_that_nothing_waits_for_is_not_found_and_not_buffered(
    engine: Scenario, name: str, key: str
) -> None:
    engine.deploy(process("invoice").message_catch("wait", message="paid", key='="a"').end(), by_message())
    engine.start("invoice").publish("ordered", "a")

    refusal = engine.refusal(message_commands.CorrelateMessage("default", name, key))

    assert refusal.type is RejectionType.NOT_FOUND
    assert refusal.reason == f"no subscription waits for a message '{name}' with the correlation key '{key}'"
    assert engine.state.messages.messages == {}


def test_a_refused_deployment_leaves_the_start_events_as_they_were(engine: Scenario) -> None:
    """The first file in it is fit, and the second is not."""
    engine.deploy(by_message(), by_signal("invoice"), by_timer("report", cycle="R/PT1H"))
    models = (by_message(name="changed"), by_signal("invoice", "changed"), process("report").end())

    resources = (*map(resource, models), resource(by_signal("wrong", "=kind")))
    engine.refusal(deployment_commands.DeployResources("default", resources))

    engine.publish("changed").broadcast("changed")
    assert running(engine) == []
    engine.publish("ordered").broadcast("alarm").advance(HOUR)
    assert running(engine) == ["order", "invoice", "report"]


def test_of_another_tenant_nothing_begins(engine: Scenario) -> None:
    engine.deploy(by_message(), by_signal("invoice"))

    engine.execute(message_commands.PublishMessage(tenant_id="other", name="ordered"))
    engine.execute(signal_commands.BroadcastSignal("other", "alarm"))

    assert running(engine) == []


def test_a_migrated_instance_takes_its_correlation_key_along(engine: Scenario) -> None:
    engine.deploy(by_message(), by_message("invoice", "billed")).publish("ordered", "a")
    running(engine)

    engine.publish("ordered", "a", lives=HOUR, n=2).migrate("invoice", {"ship": "ship"})

    assert running(engine) == ["invoice", "order"]
    engine.publish("billed", "a")
    assert running(engine) == ["invoice", "order"]


def test_an_instance_is_not_migrated_to_a_process_that_a_message_with_its_key_began(
    engine: Scenario,
) -> None:
    engine.deploy(by_message(), by_message("invoice", "billed")).publish("billed", "a").publish(
        "ordered", "a"
    )
    running(engine)

    refusal = engine.refusal(engine.migration("invoice", {"ship": "ship"}))

    assert refusal.type is RejectionType.INVALID_STATE
    assert "active instance that a message with the correlation key 'a' began" in refusal.reason


def test_a_message_that_begins_many_processes_goes_in_slices(engine: Scenario) -> None:
    engine.deploy(*(by_message(f"order-{number}") for number in range(50)))
    engine.state.limits = EngineLimits(slice_steps=2_000)

    engine.publish("ordered", "a")

    assert len(running(engine)) == 50
    assert engine.state.messages.messages == {}
    engine.state.limits = EngineLimits()


def test_many_buffered_messages_begin_one_instance_after_the_other() -> None:
    scenario = Scenario(limits=EngineLimits(slice_steps=5_000))
    scenario.deploy(process("order").start_message("begun", message="ordered").end(), by_message("slow"))
    scenario.publish("ordered", "a")
    for _ in range(200):
        scenario.publish("ordered", "a", lives=HOUR)

    created = [event for event in scenario.events if isinstance(event, events.ProcessInstanceCreated)]
    assert len(created) == 202
    for _ in range(200):
        scenario.complete("ship")

    created = [event for event in scenario.events if isinstance(event, events.ProcessInstanceCreated)]
    assert len(created) == 402
    scenario.expect_laws()


# Signals


def test_a_signal_begins_an_instance_of_each_process(engine: Scenario) -> None:
    engine.deploy(by_signal(), by_signal("invoice"), by_signal("else", "Alarm"))

    engine.broadcast("alarm", level=5)

    assert running(engine) == ["invoice", "order"]
    assert engine.variables() == {"level": 5}
    assert engine.path == ["begun"]


def test_a_signal_begins_the_latest_version_alone(engine: Scenario) -> None:
    engine.deploy(by_signal()).deploy(by_signal(total="=1")).broadcast("alarm").broadcast("alarm")

    assert versions(engine) == [2, 2]


def test_a_signal_from_another_partition_begins_nothing_here(engine: Scenario) -> None:
    engine.deploy(by_signal())

    engine.execute(signal_commands.ReceiveSignal("default", "alarm", {}))

    assert running(engine) == []


def test_a_thrown_signal_begins_processes(engine: Scenario) -> None:
    engine.deploy(by_signal(), process("fire").end_signal("throw", signal="alarm", inputs={"n": "=1"}))

    engine.start("fire")

    assert running(engine) == ["order"]
    assert engine.variables() == {"n": 1}


def test_an_instance_that_a_signal_begins_is_not_triggered_by_it(engine: Scenario) -> None:
    model = process("order").start_signal("begun", signal="alarm").signal_catch("wait", signal="alarm").end()
    engine.deploy(model).broadcast("alarm")

    assert running(engine) == ["order"]
    assert engine.path == ["begun"]


def test_a_signal_that_begins_many_processes_goes_in_slices(engine: Scenario) -> None:
    engine.deploy(*(by_signal(f"order-{number}") for number in range(TRIGGERED_AT_ONCE + 20)))

    engine.broadcast("alarm")

    assert len(running(engine)) == TRIGGERED_AT_ONCE + 20


def test_a_version_that_is_deployed_between_two_slices_begins_once() -> None:
    scenario = Scenario()
    models = [by_signal(f"order-{number:03}") for number in range(TRIGGERED_AT_ONCE + 20)]
    scenario.deploy(*models)
    begun = handle(scenario.state, signal_commands.BroadcastSignal("default", "alarm"), scenario.now)
    scenario.happens(begun.events)

    scenario.deploy(by_signal("order-000", total="=1"), by_signal(f"order-{len(models) - 1}", total="=1"))

    assert sorted(running(scenario)) == [f"order-{number:03}" for number in range(len(models))]
    scenario.expect_laws()


# Timers


def test_a_timer_begins_an_instance_once_at_its_date(engine: Scenario) -> None:
    date = (EPOCH + HOUR).isoformat()
    engine.deploy(by_timer(date=date)).advance(HOUR - SECOND)
    assert running(engine) == []

    engine.advance(SECOND)
    assert running(engine) == ["order"]
    assert engine.path == ["begun"]

    engine.advance(DAY)
    assert running(engine) == ["order"]
    assert engine.state.start_timers.timers == {}


def test_a_date_that_has_passed_begins_an_instance_at_once(engine: Scenario) -> None:
    engine.deploy(by_timer(date="2001-01-01T00:00:00Z")).advance(timedelta())

    assert running(engine) == ["order"]


@pytest.mark.parametrize(("cycle", "after"), [("R3/PT1H", 3), ("R/PT1H", 5)])
def test_a_cycle_begins_one_instance_after_each_interval(engine: Scenario, cycle: str, after: int) -> None:
    engine.deploy(by_timer(cycle=cycle))
    assert running(engine) == []

    engine.advance(HOUR)
    assert running(engine) == ["order"]

    for _ in range(4):
        engine.advance(HOUR)
    assert len(running(engine)) == after


def test_a_cycle_that_has_missed_intervals_begins_one_instance_for_them(engine: Scenario) -> None:
    engine.deploy(by_timer(cycle="R/PT1H")).advance(1_000 * HOUR + MINUTE)

    assert running(engine) == ["order"]
    assert running(engine.advance(59 * MINUTE)) == ["order"]
    assert running(engine.advance(MINUTE)) == ["order"] * 2


@pytest.mark.parametrize("cycle", ["0 0 */2 * * *", '="0 0 */2 * * *"'])
def test_a_cron_expression_begins_an_instance_at_each_of_its_times(engine: Scenario, cycle: str) -> None:
    """In UTC, counted from midnight and not from the deployment."""
    midnight = EPOCH.replace(hour=0, minute=0, second=0, microsecond=0)
    engine.advance(midnight + DAY - engine.now).advance(HOUR + MINUTE).deploy(by_timer(cycle=cycle))

    engine.advance(58 * MINUTE)
    assert running(engine) == []

    assert running(engine.advance(MINUTE)) == ["order"]
    assert running(engine.advance(4 * HOUR)) == ["order"] * 3


def test_a_timer_may_be_an_expression_of_the_time_of_deployment(engine: Scenario) -> None:
    engine.deploy(by_timer(date='=now() + duration("PT2H")')).advance(HOUR)
    assert running(engine) == []

    assert running(engine.advance(HOUR)) == ["order"]


def test_a_new_version_sets_its_timers_in_place_of_the_old_ones(engine: Scenario) -> None:
    engine.deploy(by_timer(cycle="R/PT1H")).advance(30 * MINUTE)

    engine.deploy(by_timer(cycle="R/PT2H")).advance(HOUR)
    assert running(engine) == []

    engine.advance(HOUR)
    assert versions(engine) == [2]
    engine.deploy(by_message()).advance(DAY)
    assert versions(engine) == [2]


def test_a_deployment_that_changes_nothing_leaves_the_timers_as_they_are(engine: Scenario) -> None:
    engine.deploy(by_timer(cycle="R/PT1H")).advance(30 * MINUTE).deploy(by_timer(cycle="R/PT1H"))

    assert running(engine.advance(30 * MINUTE)) == ["order"]


def test_several_timers_of_a_process_begin_at_their_own_events(engine: Scenario) -> None:
    model = (
        by_timer(cycle="R/PT1H").start_timer("later", cycle="R/PT3H").service_task("pack", type="pack").end()
    )
    engine.deploy(model).advance(HOUR).advance(HOUR).advance(HOUR)

    running(engine)
    begun = [
        event.element_id
        for event in engine.events
        if isinstance(event, events.ElementActivating) and event.element_id in {"begun", "later"}
    ]
    assert sorted(begun) == ["begun", "begun", "begun", "later"]


def test_a_definition_that_another_partition_deployed_sets_no_timers_here() -> None:
    origin, other = Scenario(), Scenario()
    deployed = origin.deploy(by_timer(cycle="R/PT1H"), by_signal("alarm")).events

    for event in deployed:
        if isinstance(event, events.ProcessDefinitionDeployed):
            other.execute(deployment_commands.AdoptDefinition(event))

    assert other.state.start_timers.timers == {}
    assert len(origin.state.start_timers.timers) == 1
    assert other.state.starts == origin.state.starts


def test_a_timer_that_was_set_here_before_stays_until_the_next_version() -> None:
    """Earlier releases set all timers in the first partition."""
    engine = Scenario().deploy(by_timer(cycle="R/PT1H"))
    engine.state.message_homes = 1_000

    assert versions(engine.advance(HOUR)) == [1]
    engine.deploy(by_timer(cycle="R/PT2H"))

    assert engine.state.start_timers.timers == {}
    (sent,) = [event for event in engine.last_events if isinstance(event, CommandSent)]
    assert isinstance(sent.command, timer_commands.SetStartTimers)
    assert sent.partition_id == timers_home(sent.command.timers[0].process_definition_key, 1_000)
    assert versions(engine.advance(HOUR)) == [1]


def test_versions_that_become_known_in_another_order_leave_the_latest_start_event() -> None:
    origin, other = Scenario(), Scenario()
    origin.deploy(by_signal()).deploy(by_signal(total="=1"))
    deployed = [event for event in origin.events if isinstance(event, events.ProcessDefinitionDeployed)]

    for event in reversed(deployed):
        other.execute(deployment_commands.AdoptDefinition(event))
    other.broadcast("alarm")

    assert versions(other) == [2]
    other.expect_laws()


def test_instances_that_events_begin_have_keys_of_this_partition(engine: Scenario) -> None:
    engine.deploy(by_message(), by_signal("alarm")).publish("ordered", "a").broadcast("alarm")

    assert all(isinstance(key, int) and Key(key) <= engine.state.last_key for key in engine.state.instances)
    assert engine.state.started == {("default", "order", "a"): min(engine.state.instances)}
