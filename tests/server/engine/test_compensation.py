import pytest

from server.bpmn.builder import ProcessBuilder, event_sub_process, process, sub_process
from server.bpmn.executable import ElementType
from server.engine import events, job_commands, process_instance_commands
from server.engine import process as handle
from server.engine.incidents import ErrorType
from server.engine.lifecycle import ElementState
from server.engine.limits import EngineLimits
from server.engine.process_instance import ElementInstance
from server.engine.rejection import RejectionType
from tests.server.engine.scenario import Scenario


def compensable(builder: ProcessBuilder, name: str) -> ProcessBuilder:
    """A task of a worker with a handler; the path goes on behind the task."""
    builder.service_task(name, type=name).boundary_compensation(f"{name}_undone", on=name)
    return builder.service_task(f"undo_{name}", type=f"undo_{name}").branch(name)


def booking(*, activity: str | None = None) -> ProcessBuilder:
    """A flight, then a hotel, then both are compensated, or this activity is."""
    builder = compensable(compensable(process("trip").start(), "flight"), "hotel")
    return builder.throw_compensation("regret", activity=activity).end("home")


def handlers(engine: Scenario) -> list[str]:
    """The handlers whose jobs are on offer, by name."""
    return sorted(name for name in engine.offered if name.startswith("undo"))


# Throwing


def test_an_event_has_the_handlers_of_completed_activities_run_at_once_and_waits_for_them(
    engine: Scenario,
) -> None:
    engine.deploy(booking()).start().complete("flight").complete("hotel")

    assert handlers(engine) == ["undo_flight", "undo_hotel"]
    throwing = engine.element("regret")
    assert (throwing.type, throwing.state) == (ElementType.INTERMEDIATE_THROW_EVENT, ElementState.ACTIVATED)

    engine.complete("undo_hotel")
    assert engine.element("regret").state is ElementState.ACTIVATED

    engine.complete("undo_flight")
    assert engine.path == [
        "start", "flight", "hotel", "flight_undone", "hotel_undone", "undo_hotel", "undo_flight", "regret", "home",
    ]  # fmt: skip
    assert engine.is_completed


def test_an_end_event_waits_for_the_handlers_before_its_scope_completes(engine: Scenario) -> None:
    builder = compensable(process("trip").start(), "flight").end_compensation("regret")
    engine.deploy(builder).start().complete("flight")

    assert engine.element("regret").type is ElementType.END_EVENT
    assert engine.is_running

    assert engine.complete("undo_flight").is_completed


def test_without_completed_activities_the_event_is_passed(engine: Scenario) -> None:
    builder = process("trip").exclusive_gateway("skip").flow(condition="=true").throw_compensation("regret")
    builder.end("home").branch("skip").flow(default=True)
    engine.deploy(compensable(builder, "flight").end()).start()

    assert engine.path == ["start", "skip", "regret", "home"]
    assert engine.is_completed


def test_active_activities_are_not_compensated(engine: Scenario) -> None:
    builder = compensable(process("trip").parallel_gateway("fork"), "flight").end()
    compensable(builder.branch("fork"), "hotel").throw_compensation("regret").end()
    engine.deploy(builder).start().complete("hotel")

    assert engine.offered == ["flight", "undo_hotel"]
    engine.complete("undo_hotel").complete("flight")

    assert "undo_flight" not in engine.path
    assert engine.is_completed


def test_terminated_activities_are_not_compensated(engine: Scenario) -> None:
    builder = compensable(process("trip").start(), "flight").end("there")
    builder.boundary_signal("strike", on="flight", signal="strike").throw_compensation("regret").end("home")
    engine.deploy(builder).start()

    engine.broadcast("strike")

    assert engine.path == ["start", "strike", "regret", "home"]


def test_an_activity_is_compensated_once_for_each_time_that_it_completed(engine: Scenario) -> None:
    builder = compensable(process("trip").exclusive_gateway("again"), "flight").exclusive_gateway("enough")
    builder.flow(default=True).connect_to("again").branch("enough")
    builder.flow(condition="=n = 3").throw_compensation("regret").end()
    engine.deploy(builder).start()
    for n in (1, 2, 3):
        engine.complete("flight", n=n)

    assert handlers(engine) == ["undo_flight"] * 3
    for _ in range(3):
        assert engine.is_running
        engine.complete("undo_flight")
    assert engine.is_completed


def test_what_was_compensated_is_not_compensated_again(engine: Scenario) -> None:
    builder = compensable(process("trip").start(), "flight").throw_compensation("first")
    engine.deploy(builder.throw_compensation("second").end()).start()

    engine.complete("flight").complete("undo_flight")

    assert engine.path.count("undo_flight") == 1
    assert engine.is_completed


def test_what_completes_while_handlers_run_is_left_for_a_later_event(engine: Scenario) -> None:
    builder = (
        compensable(process("trip").parallel_gateway("fork"), "flight").throw_compensation("regret").end()
    )
    compensable(builder.branch("fork"), "hotel").throw_compensation("more").end()
    engine.deploy(builder).start().complete("flight")

    engine.complete("hotel")

    assert handlers(engine) == ["undo_flight", "undo_hotel"]
    assert engine.complete("undo_flight").complete("undo_hotel").is_completed


# One activity


def test_one_activity_is_compensated_and_the_others_later(engine: Scenario) -> None:
    builder = compensable(compensable(process("trip").start(), "flight"), "hotel")
    builder.throw_compensation("first", activity="hotel").throw_compensation("rest").end()
    engine.deploy(builder).start().complete("flight").complete("hotel")

    assert handlers(engine) == ["undo_hotel"]
    engine.complete("undo_hotel")
    assert handlers(engine) == ["undo_flight"]
    assert engine.complete("undo_flight").is_completed


def test_one_sub_process_is_compensated_by_the_handlers_inside_it(engine: Scenario) -> None:
    inside = compensable(sub_process("stay").start(), "hotel").end()
    builder = compensable(process("trip").start(), "flight").embed(inside)
    engine.deploy(builder.throw_compensation("regret", activity="stay").end()).start()

    engine.complete("flight").complete("hotel")

    assert handlers(engine) == ["undo_hotel"]
    assert engine.complete("undo_hotel").is_completed


# Scopes


def test_activities_in_completed_sub_processes_are_compensated(engine: Scenario) -> None:
    innermost = compensable(sub_process("room").start(), "bed").end()
    inside = compensable(sub_process("stay").start(), "hotel").embed(innermost).end()
    engine.deploy(process("trip").start().embed(inside).throw_compensation("regret").end()).start()

    engine.complete("hotel").complete("bed")

    assert handlers(engine) == ["undo_bed", "undo_hotel"]
    assert engine.complete("undo_bed").complete("undo_hotel").is_completed


def test_activities_in_an_active_sub_process_are_not_compensated_from_outside(engine: Scenario) -> None:
    inside = compensable(sub_process("stay").start(), "hotel").service_task("rest", type="rest").end()
    builder = process("trip").parallel_gateway("fork").embed(inside).end().branch("fork")
    builder.service_task("call", type="call").throw_compensation("regret").end()
    engine.deploy(builder).start().complete("hotel").complete("call")

    assert "regret" in engine.path
    assert handlers(engine) == []


def test_activities_in_a_terminated_sub_process_are_not_compensated(engine: Scenario) -> None:
    inside = compensable(sub_process("stay").start(), "hotel").service_task("rest", type="rest").end()
    builder = process("trip").start().embed(inside).end()
    builder.boundary_signal("fire", on="stay", signal="fire").throw_compensation("regret").end("home")
    engine.deploy(builder).start().complete("hotel")

    engine.broadcast("fire")

    assert engine.path[-3:] == ["fire", "regret", "home"]
    assert engine.is_completed


def test_an_event_in_a_sub_process_compensates_nothing_outside_it(engine: Scenario) -> None:
    inside = compensable(sub_process("stay").start(), "hotel").throw_compensation("regret").end()
    engine.deploy(compensable(process("trip").start(), "flight").embed(inside).end()).start()

    engine.complete("flight").complete("hotel")

    assert handlers(engine) == ["undo_hotel"]
    assert engine.complete("undo_hotel").is_completed


def test_a_sub_process_with_a_handler_is_compensated_by_that_one_alone(engine: Scenario) -> None:
    inside = compensable(sub_process("stay").start(), "hotel").end()
    builder = process("trip").start().embed(inside).boundary_compensation("left", on="stay")
    builder.service_task("undo_stay", type="undo_stay").branch("stay").throw_compensation("regret").end()
    engine.deploy(builder).start().complete("hotel")

    assert handlers(engine) == ["undo_stay"]
    assert engine.complete("undo_stay").is_completed


@pytest.mark.parametrize("is_interrupting", [True, False])
def test_an_event_sub_process_compensates_the_scope_around_it(
    engine: Scenario, *, is_interrupting: bool
) -> None:
    rescue = event_sub_process("rescue").start_signal(
        "begin", signal="strike", is_interrupting=is_interrupting
    )
    builder = compensable(process("trip").start(), "flight").service_task("walk", type="walk").end("there")
    engine.deploy(builder.beside(rescue.throw_compensation("regret").end("home"))).start().complete("flight")

    engine.broadcast("strike")
    assert handlers(engine) == ["undo_flight"]
    assert ("walk" in engine.offered) is not is_interrupting

    engine.complete("undo_flight")
    assert engine.path[-3:] == ["regret", "home", "rescue"]
    assert engine.is_completed is is_interrupting


def test_an_event_sub_process_compensates_one_activity_of_the_scope_around_it(engine: Scenario) -> None:
    rescue = event_sub_process("rescue").start_signal("begin", signal="strike")
    builder = compensable(compensable(process("trip").start(), "flight"), "hotel")
    builder.service_task("walk", type="walk").end()
    builder.beside(rescue.end_compensation("regret", activity="flight"))
    engine.deploy(builder).start().complete("flight").complete("hotel")

    engine.broadcast("strike")

    assert handlers(engine) == ["undo_flight"]
    assert engine.complete("undo_flight").is_completed


def test_a_called_process_is_compensated_by_the_handler_of_its_call_activity_alone(engine: Scenario) -> None:
    called = compensable(process("hotels").start(), "hotel").end()
    builder = process("trip").call_activity("stay", process="hotels").boundary_compensation("left", on="stay")
    builder.service_task("undo_stay", type="undo_stay").branch("stay").throw_compensation("regret").end()
    engine.deploy(builder, called).start("trip").complete("hotel")

    assert handlers(engine) == ["undo_stay"]
    assert engine.complete("undo_stay").is_completed


# Multi-instance


@pytest.mark.parametrize("sequential", [True, False])
def test_a_multi_instance_activity_is_compensated_once(engine: Scenario, *, sequential: bool) -> None:
    builder = (
        process("trip").service_task("seat", type="seat").multi_instance("=[1, 2]", sequential=sequential)
    )
    builder.boundary_compensation("unseated", on="seat").service_task("undo_seat", type="undo_seat")
    engine.deploy(builder.branch("seat").throw_compensation("regret").end()).start()

    engine.complete("seat")
    assert handlers(engine) == []
    engine.complete("seat")

    assert handlers(engine) == ["undo_seat"]
    assert engine.complete("undo_seat").is_completed


def test_activities_in_each_instance_of_a_sub_process_are_compensated_when_all_have_completed(
    engine: Scenario,
) -> None:
    inside = compensable(sub_process("stay").start(), "hotel").end()
    builder = process("trip").start().embed(inside).multi_instance("=[1, 2]")
    engine.deploy(builder.throw_compensation("regret").end()).start()

    engine.complete("hotel").complete("hotel")

    assert handlers(engine) == ["undo_hotel", "undo_hotel"]
    assert engine.complete("undo_hotel").complete("undo_hotel").is_completed


def test_a_handler_may_be_a_multi_instance_activity(engine: Scenario) -> None:
    builder = process("trip").service_task("flight", type="flight")
    builder.boundary_compensation("undone", on="flight").service_task("undo", type="undo")
    builder.multi_instance("=seats", element="seat")
    engine.deploy(builder.branch("flight").throw_compensation("regret").end()).start()

    engine.complete("flight", seats=[1, 2])
    assert engine.offered == ["undo", "undo"]

    assert engine.complete("undo").complete("undo").is_completed


# Handlers


def test_a_handler_may_be_a_sub_process_whose_activities_are_not_compensated_themselves(
    engine: Scenario,
) -> None:
    undo = compensable(sub_process("undo").start(), "refund").end()
    builder = (
        process("trip").service_task("flight", type="flight").boundary_compensation("undone", on="flight")
    )
    builder.embed(undo).branch("flight").throw_compensation("first").throw_compensation("second").end()
    engine.deploy(builder).start().complete("flight")

    assert engine.complete("refund").is_completed


def test_a_handler_that_waits_for_nothing_completes_at_once(engine: Scenario) -> None:
    builder = process("trip").task("flight").boundary_compensation("undone", on="flight").task("undo")
    engine.deploy(builder.branch("flight").throw_compensation("regret").end()).start()

    assert engine.path == ["start", "flight", "undone", "undo", "regret", "end"]


def test_a_handler_sees_and_changes_the_variables_of_the_scope(engine: Scenario) -> None:
    builder = (
        process("trip").service_task("flight", type="flight").boundary_compensation("undone", on="flight")
    )
    builder.service_task("undo", type="=kind", inputs={"seat": "=booked"}, outputs={"booked": "=null"})
    engine.deploy(builder.branch("flight").throw_compensation("regret").end()).start()

    engine.complete("flight", booked=7, kind="refund")
    undo = engine.element("undo").key
    engine.complete("refund", more=1)

    assert engine.variables(undo) == {"seat": 7, "more": 1}
    assert engine.variables() == {"booked": None, "kind": "refund"}


def test_a_handler_sees_local_variables_of_the_scope_around_it_and_of_the_event(engine: Scenario) -> None:
    inside = sub_process("inside").start()
    inside.service_task("flight", type="flight").boundary_compensation("undone", on="flight")
    inside.service_task("undo", type="refund", inputs={"both": "=[seat, reason]"})
    inside.branch("flight").throw_compensation("regret").end()
    builder = process("trip").start().embed(inside, inputs={"seat": "=7"}).end()
    engine.deploy(builder).start(seat=1, reason="rain").complete("flight")

    undo = engine.element("undo").key
    assert engine.variables(undo) == {"both": [7, "rain"]}

    engine.complete("refund", seat=8)
    # The innermost variable of that name is the one of the sub-process.
    assert engine.variables() == {"seat": 1, "reason": "rain"}
    assert engine.is_completed


def test_a_handler_with_an_incident_keeps_the_event_waiting(engine: Scenario) -> None:
    engine.deploy(booking(activity="flight")).start().complete("flight").complete("hotel")

    engine.fail("undo_flight", message="no refund")
    assert (engine.incident.error_type, engine.incident.element_id) == (
        ErrorType.JOB_NO_RETRIES,
        "undo_flight",
    )

    job = engine.job("undo_flight")
    engine.execute(job_commands.UpdateJob(tenant_id="default", job_key=job.key, retries=1))
    assert engine.resolve().complete("undo_flight").is_completed


def test_an_error_of_a_handler_is_caught_around_the_event(engine: Scenario) -> None:
    inside = compensable(compensable(sub_process("stay").start(), "hotel"), "bed")
    builder = process("trip").start().embed(inside.throw_compensation("regret").end())
    engine.deploy(builder.end().boundary_error("lost", on="stay").end("home")).start()
    engine.complete("hotel").complete("bed")

    engine.execute(
        job_commands.ThrowJobError(tenant_id="default", job_key=engine.job("undo_bed").key, error_code="gone")
    )

    assert engine.path[-2:] == ["lost", "home"]
    assert engine.is_completed


def test_cancelling_ends_the_handlers_that_run(engine: Scenario) -> None:
    engine.deploy(booking()).start().complete("flight").complete("hotel").complete("undo_flight")

    engine.cancel()

    assert engine.is_terminated
    assert len(engine.happened(events.JobCanceled)) == 1


def test_what_interrupts_the_scope_ends_the_handlers_that_run(engine: Scenario) -> None:
    stop = event_sub_process("stop").start_signal("begin", signal="stop").end("stopped")
    engine.deploy(booking().beside(stop)).start().complete("flight").complete("hotel")

    engine.broadcast("stop")

    assert len(engine.happened(events.JobCanceled)) == 2
    assert engine.path[-2:] == ["stopped", "stop"]


def test_listeners_of_the_event_come_before_and_after_the_handlers(engine: Scenario) -> None:
    builder = compensable(process("trip").start(), "flight").throw_compensation("regret")
    builder.execution_listener("start", type="before").execution_listener("end", type="after")
    engine.deploy(builder.end()).start().complete("flight")

    engine.complete("before").complete("undo_flight").complete("after")

    created = [event.type for event in engine.happened(events.JobCreated)]
    assert created == ["flight", "before", "undo_flight", "after"]
    assert engine.is_completed


# Migration


def migrated(process_id: str) -> ProcessBuilder:
    """As `booking`, with other ids and a task before the event."""
    builder = process(process_id).start().service_task("fly", type="flight")
    builder.boundary_compensation("flown", on="fly").service_task("refund", type="refund").branch("fly")
    builder.service_task("sleep", type="hotel").boundary_compensation("slept", on="sleep")
    builder.service_task("leave", type="leave").branch("sleep")
    return builder.throw_compensation("regret").end()


def test_completed_activities_go_with_their_mapped_compensation_boundary_events(engine: Scenario) -> None:
    engine.deploy(booking(), migrated("new")).start("trip").complete("flight")

    engine.migrate("new", {"hotel": "sleep", "flight_undone": "flown"}).complete("hotel")

    assert sorted(engine.offered) == ["leave", "refund"]
    assert engine.complete("refund").complete("leave").is_completed


def test_completed_activities_whose_boundary_events_are_not_mapped_are_compensated_no_more(
    engine: Scenario,
) -> None:
    engine.deploy(booking(), migrated("new")).start("trip").complete("flight")

    engine.migrate("new", {"hotel": "sleep"}).complete("hotel")

    assert engine.offered == ["leave"]


def test_a_new_compensation_boundary_event_counts_for_what_has_not_completed(engine: Scenario) -> None:
    old = process("old").service_task("a", type="flight").service_task("b", type="hotel").end()
    engine.deploy(old, migrated("new")).start("old").complete("flight")

    engine.migrate("new", {"b": "sleep"}).complete("hotel")

    assert engine.offered == ["leave"]


@pytest.mark.parametrize(
    ("mapping", "reason"),
    [
        ({"flight_undone": "regret"}, "wait for different triggers"),
        ({"flight_undone": "slept", "flight": "fly"}, "is on another element"),
        ({"flight_undone": "inner_undone"}, "is in another flow scope"),
    ],
)
def test_a_compensation_boundary_event_is_mapped_to_one_of_its_kind_in_its_scope(
    engine: Scenario, mapping: dict[str, str], reason: str
) -> None:
    inner = compensable(sub_process("other").start(), "inner").end()
    target = migrated("new").branch("fly").embed(inner)
    source = compensable(process("old").start(), "flight")
    engine.deploy(source.service_task("rest", type="rest").end(), target).start("old").complete("flight")

    refusal = engine.refusal(engine.migration("new", {"rest": "sleep", **mapping}))

    assert refusal.type is RejectionType.INVALID_STATE
    assert reason in refusal.reason


def test_an_instance_is_not_migrated_while_it_compensates(engine: Scenario) -> None:
    engine.deploy(booking()).start().complete("flight").complete("hotel")

    refusal = engine.refusal(engine.migration("trip", {"regret": "regret"}))

    assert refusal.type is RejectionType.INVALID_STATE


# Many


def loop() -> ProcessBuilder:
    """An activity that completes `n` times before it is compensated."""
    builder = process("trip").exclusive_gateway("again").script_task("count", expression="=i + 1", result="i")
    builder.boundary_compensation("undone", on="count").task("undo").branch("count")
    builder.exclusive_gateway("enough").flow(default=True).connect_to("again").branch("enough")
    return builder.flow(condition="=i >= n").service_task("wait", type="wait").end_compensation("regret")


def test_many_completions_are_one_record(engine: Scenario) -> None:
    engine.deploy(loop()).start(i=0, n=50)

    root = engine.instance.elements[engine.instance_key]
    assert root.compensable == {"count": 50}
    assert engine.instance.size == len(engine.instance.elements) + 1 + 2

    assert engine.complete("wait").path.count("undo") == 50


def test_handlers_are_invoked_in_slices() -> None:
    scenario = Scenario(limits=EngineLimits(slice_steps=5_000)).deploy(loop()).start(i=0, n=100)
    (job,) = scenario.activate("wait")

    outcome = handle(scenario.state, job_commands.CompleteJob("default", job.key), scenario.now)
    scenario.happens(outcome.events)

    invoked = scenario.happened(events.CompensationInvoked)
    assert 1 < len(invoked) < 100
    throwing = next(each for each in scenario.instance.elements.values() if each.compensable)
    assert isinstance(throwing, ElementInstance)
    assert throwing.compensable == {"count": 100 - len(invoked)}
    scenario.expect_laws()
    scenario.execute(process_instance_commands.ContinueProcessInstance("default", scenario.instance_key))
    assert scenario.is_completed
    scenario.expect_laws()


def test_an_event_compensates_up_to_a_number_of_activities() -> None:
    scenario = Scenario(limits=EngineLimits(compensations=3)).deploy(loop())
    assert scenario.start(i=0, n=3).complete("wait").is_completed

    scenario.start(i=0, n=4).complete("wait")

    assert scenario.incident.error_type is ErrorType.UNKNOWN
    assert scenario.incident.message == "Expected at most 3 completed activities to compensate, found 4"
    assert scenario.element("regret").state is ElementState.ACTIVATING
    scenario.expect_laws()
