from datetime import UTC, datetime, timedelta

import pytest

from server.bpmn.builder import ProcessBuilder, event_sub_process, process, sub_process
from server.engine import events, job_commands, timer_commands
from server.engine import process as handle
from server.engine.incidents import ErrorType
from server.engine.lifecycle import ElementState
from server.engine.limits import ENTERING_STEPS, EngineLimits
from tests.durable import EPOCH
from tests.server.engine.scenario import Scenario

SECOND, HOUR = timedelta(seconds=1), timedelta(hours=1)


def waiting(**timer: str) -> ProcessBuilder:
    return process("order").timer_catch("wait", **timer).end("done")


def guarded(*, is_interrupting: bool = True, **timer: str) -> ProcessBuilder:
    """A task with a timer on its boundary."""
    return (
        process("order").service_task("charge", type="charge").end("done")
        .boundary_timer("late", on="charge", is_interrupting=is_interrupting, **timer)
        .service_task("remind", type="remind").end("reminded")
    )  # fmt: skip


# In the flow


@pytest.mark.parametrize(
    ("kind", "value", "seconds"),
    [
        ("duration", "PT10S", 10),
        ("duration", "P1DT1H", 90_000),
        ("duration", '="PT" + string(10 * minutes) + "S"', 50),
        ("duration", '=duration("PT2M")', 120),
        ("date", (EPOCH + HOUR).isoformat(), 3600),
        ("date", "=deadline", 7200),
        ("date", '=now() + duration("PT3S")', 3),
    ],
)  # fmt: skip
def test_a_timer_goes_on_when_it_is_due_and_never_before(
    engine: Scenario, kind: str, value: str, seconds: int
) -> None:
    engine.deploy(waiting(**{kind: value})).start(minutes=5, deadline=(EPOCH + 2 * HOUR).isoformat())

    engine.advance(timedelta(seconds=seconds) - timedelta(milliseconds=1))
    assert engine.element("wait").state is ElementState.ACTIVATED

    engine.advance(timedelta(milliseconds=1))
    assert engine.path == ["start", "wait", "done"]
    assert engine.is_completed


@pytest.mark.parametrize(
    ("kind", "value"), [("duration", "PT0S"), ("duration", "-PT5S"), ("date", "2001-01-01T00:00:00Z")]
)
def test_what_is_past_fires_at_once(engine: Scenario, kind: str, value: str) -> None:
    engine.deploy(waiting(**{kind: value})).start().advance(timedelta())

    assert engine.is_completed


def test_a_date_may_have_a_time_zone(engine: Scenario) -> None:
    engine.deploy(waiting(date="=when")).start(when="2030-07-01T10:00:00+02:00[Europe/Berlin]")

    (timer,) = engine.instance.subscriptions.values()

    assert timer.due == datetime(2030, 7, 1, 8, tzinfo=UTC)


@pytest.mark.parametrize(
    ("duration", "due"),
    [
        ("P1Y2M", datetime(2027, 3, 1, tzinfo=UTC)),
        ("P2W", datetime(2026, 1, 15, tzinfo=UTC)),
        ("P1DT2H3M4S", datetime(2026, 1, 2, 2, 3, 4, tzinfo=UTC)),
    ],
)
def test_a_duration_has_years_months_weeks_days_and_times(
    engine: Scenario, duration: str, due: datetime
) -> None:
    engine.deploy(waiting(duration=duration)).start()

    (timer,) = engine.instance.subscriptions.values()

    assert timer.due == due


@pytest.mark.parametrize(
    ("kind", "value", "message"),
    [
        ("duration", "=1", "The timer of 'wait': expected a text of ISO 8601"),
        ("duration", '="soon"', "The timer of 'wait': expected a duration, found 'soon'"),
        ("date", '="2030-01-01T00:00:00"', "The timer of 'wait': expected a date and time with an offset"),
        ("date", "=assert(null, false)", "Failed to evaluate the expression"),
    ],
)
def test_a_timer_that_means_nothing_raises_an_incident(
    engine: Scenario, kind: str, value: str, message: str
) -> None:
    engine.deploy(waiting(**{kind: value})).start()

    assert engine.incident.error_type is ErrorType.EXTRACT_VALUE_ERROR
    assert message in engine.incident.message


def test_a_timer_of_an_instance_that_was_cancelled_never_fires(engine: Scenario) -> None:
    engine.deploy(waiting(duration="PT10S")).start().cancel()

    engine.advance(HOUR)

    assert engine.happened(events.ElementCompleted)[-1].key != engine.instance_key
    assert engine.path == ["start"]


def test_a_timer_that_is_told_twice_fires_once() -> None:
    engine = Scenario()
    engine.deploy(waiting(duration="PT10S")).start()
    (timer,) = engine.instance.subscriptions.values()
    command = timer_commands.TriggerTimer("default", timer.key, timer.due)
    engine.now = timer.due

    engine.execute(command)
    engine.execute(command)

    assert engine.path == ["start", "wait", "done"]


# On a boundary


def test_an_interrupting_timer_ends_its_task_and_takes_its_own_way(engine: Scenario) -> None:
    engine.deploy(guarded(duration="PT1H")).start()
    job = engine.job("charge")

    engine.advance(HOUR)

    assert [event.key for event in engine.happened(events.JobCanceled)] == [job.key]
    assert engine.path == ["start", "late"]
    assert engine.offered == ["remind"]

    engine.complete("remind")
    assert engine.is_completed


def test_a_task_that_is_done_in_time_takes_its_timer_with_it(engine: Scenario) -> None:
    engine.deploy(guarded(duration="PT1H")).start().complete("charge")

    engine.advance(2 * HOUR)

    assert engine.path == ["start", "charge", "done"]


def test_a_timer_that_does_not_interrupt_begins_a_path_beside_the_task(engine: Scenario) -> None:
    engine.deploy(guarded(is_interrupting=False, duration="PT1H")).start().advance(5 * HOUR)

    assert sorted(engine.offered) == ["charge", "remind"]

    engine.complete("charge").complete("remind")
    assert engine.is_completed
    assert engine.path == ["start", "late", "charge", "done", "remind", "reminded"]


@pytest.mark.parametrize(
    ("cycle", "fired"),
    [
        ("R3/PT1H", [1, 2, 3]),
        ("R/PT1H", [1, 2, 3, 4, 5]),
        (f"R2/{(EPOCH + 3 * HOUR).isoformat()}/PT2H", [3, 5]),
        (f"R2/{(EPOCH - 3 * HOUR).isoformat()}/PT2H", [0, 2]),
    ],
)
def test_a_cycle_fires_as_often_as_it_says(engine: Scenario, cycle: str, fired: list[int]) -> None:
    engine.deploy(guarded(is_interrupting=False, cycle=cycle)).start()
    seen: list[int] = []

    for hour in range(6):
        for _ in range(3):
            engine.advance(timedelta())
        seen += [hour] * (engine.path.count("late") - len(seen))
        engine.advance(HOUR)

    assert seen == fired


@pytest.mark.parametrize("is_interrupting", [True, False])
def test_a_date_triggers_boundary_events_and_event_sub_processes(
    engine: Scenario, *, is_interrupting: bool
) -> None:
    date = (EPOCH + HOUR).isoformat()
    stop = event_sub_process("stop").start_timer("begin", is_interrupting=is_interrupting, date=date)
    beside = process("order").service_task("charge", type="charge").end()
    engine.deploy(beside.beside(stop.service_task("remind", type="remind").end()))
    engine.deploy(guarded(is_interrupting=is_interrupting, date=date))
    first, second = engine.start("order").instance_key, engine.start("order").instance_key
    assert first != second

    engine.advance(HOUR)

    assert engine.offered == (["remind"] if is_interrupting else ["charge", "remind"])


@pytest.mark.parametrize("cycle", ['=cycle(2, duration("PT1H"))', '="R2/PT" + hours + "H"'])
def test_a_cycle_may_be_an_expression(engine: Scenario, cycle: str) -> None:
    engine.deploy(guarded(is_interrupting=False, cycle=cycle)).start(hours="1")

    for _ in range(4):
        engine.advance(HOUR)

    assert engine.path.count("late") == 2


def test_what_a_timer_interrupts_is_terminated_before_its_boundary_event_is_activated(
    engine: Scenario,
) -> None:
    inner = sub_process("pack").service_task("wrap", type="wrap").end()
    outer = process("order").embed(inner).end("done").boundary_timer("late", on="pack", duration="PT1H")
    engine.deploy(outer.end("expired")).start()
    wrap, pack = engine.element("wrap").key, engine.element("pack").key

    engine.advance(HOUR)

    happened = engine.happened(events.ElementTerminated, events.ElementActivating)
    late = next(each.key for each in happened if getattr(each, "element_id", "") == "late")
    assert [each.key for each in happened][-4:-1] == [wrap, pack, late]


def test_a_timer_that_fired_late_is_not_late_for_ever(engine: Scenario) -> None:
    engine.deploy(guarded(is_interrupting=False, cycle="R/PT1H")).start()
    engine.advance(HOUR + 30 * timedelta(minutes=1))

    (timer,) = engine.instance.subscriptions.values()

    assert timer.due == EPOCH + 2 * HOUR


def test_a_timer_that_has_missed_intervals_fires_once_for_them_and_counts_from_then(engine: Scenario) -> None:
    engine.deploy(guarded(is_interrupting=False, cycle="R3/PT1H")).start()

    engine.advance(5 * HOUR + 30 * timedelta(minutes=1))

    assert engine.path.count("late") == 1
    (timer,) = engine.instance.subscriptions.values()
    assert timer.due == EPOCH + 6 * HOUR + 30 * timedelta(minutes=1)

    engine.advance(10 * HOUR).advance(10 * HOUR).advance(10 * HOUR)
    assert engine.path.count("late") == 3


def test_a_timer_that_fails_leaves_the_task_where_it_was(engine: Scenario) -> None:
    engine.deploy(guarded(duration="=patience")).start(patience=None)

    assert engine.incident.element_id == "charge"
    assert engine.offered == []
    assert engine.instance.subscriptions == {}


def test_resolving_does_not_open_the_timer_again(engine: Scenario) -> None:
    """The job type fails after the timer was opened."""
    task = process("order").service_task("charge", type="=kind").end("done")
    engine.deploy(task.boundary_timer("late", on="charge", duration="PT1H").end("expired")).start()
    (timer,) = engine.instance.subscriptions.values()

    engine.advance(SECOND).resolve()

    assert list(engine.instance.subscriptions.values()) == [timer]
    assert engine.incident.error_type is ErrorType.EXTRACT_VALUE_ERROR
    engine.advance(HOUR)
    assert engine.path == ["start", "late", "expired"]
    assert engine.is_completed


def test_an_interrupting_timer_ends_a_sub_process_with_all_that_is_in_it(engine: Scenario) -> None:
    inner = (
        sub_process("pack").parallel_gateway("split").service_task("wrap", type="wrap").end()
        .branch("split").service_task("label", type="label").end()
    )  # fmt: skip
    outer = process("order").embed(inner).end("done").boundary_timer("late", on="pack", duration="PT1H")
    engine.deploy(outer.end("expired")).start()

    engine.advance(HOUR)

    assert engine.path == ["start", "pack_start", "split", "late", "expired"]
    assert engine.is_completed
    assert len(engine.happened(events.JobCanceled)) == 2


def test_a_timer_of_a_sub_process_fires_while_its_parts_fail(engine: Scenario) -> None:
    inner = sub_process("pack").service_task("wrap", type="=kind").end()
    outer = process("order").embed(inner).end("done").boundary_timer("late", on="pack", duration="PT1H")
    engine.deploy(outer.end("expired")).start()

    engine.advance(HOUR)

    assert engine.is_completed
    assert len(engine.happened(events.IncidentResolved)) == 1


def test_several_timers_of_a_task_each_fire(engine: Scenario) -> None:
    task = guarded(is_interrupting=False, duration="PT1H")
    task.boundary_timer("too_late", on="charge", duration="PT2H").end("expired")
    engine.deploy(task).start()

    engine.advance(HOUR).advance(HOUR)

    assert engine.path == ["start", "late", "too_late", "expired"]
    assert engine.offered == ["remind"]


@pytest.mark.parametrize(
    "cycle", ["R/PT0.999S", "R/PT0S", "R/-PT1H", "R0/PT1H", "R/P", "PT1H", "R/PT1H/PT1H/PT1H"]
)
def test_a_cycle_that_is_too_short_or_none_raises_an_incident(engine: Scenario, cycle: str) -> None:
    engine.deploy(guarded(is_interrupting=False, cycle="=every")).start(every=cycle)

    assert engine.incident.error_type is ErrorType.EXTRACT_VALUE_ERROR


# While a scope is terminated in slices


def ending(engine: Scenario, boundary: ProcessBuilder) -> None:
    """Interrupt a sub-process of which a part has to be terminated in a later turn."""
    engine.deploy(boundary).start()
    timer = next(each for each in engine.instance.subscriptions.values() if each.element_id == "late")
    engine.now = timer.due
    step = timer_commands.TriggerTimer("default", timer.key, timer.due)
    engine.happens(handle(engine.state, step, engine.now).events)
    assert engine.element("pack").state is ElementState.TERMINATING
    assert engine.instance.work


@pytest.fixture
def sliced() -> Scenario:
    return Scenario(limits=EngineLimits(slice_steps=2 * ENTERING_STEPS))


def packing(**boundary: str) -> ProcessBuilder:
    inner = sub_process("pack").parallel_gateway("split")
    for number in range(30):
        inner.branch("split").service_task(f"wrap{number}", type="wrap").end()
        if boundary:
            inner.boundary_timer(f"nag{number}", on=f"wrap{number}", is_interrupting=False, **boundary).end()
    outer = process("order").embed(inner).end("done").boundary_timer("late", on="pack", duration="PT1H")
    return outer.end("expired").boundary_error("any", on="pack").end("failed")


def test_an_error_from_a_scope_that_is_being_terminated_interrupts_nothing_again(sliced: Scenario) -> None:
    ending(sliced, packing())
    job = next(iter(sliced.instance.jobs.values()))

    sliced.execute(job_commands.ThrowJobError(tenant_id="default", job_key=job.key, error_code="torn"))

    assert sliced.path[-2:] == ["late", "expired"]
    assert sliced.is_completed
    sliced.expect_laws()


def test_a_timer_in_a_scope_that_is_being_terminated_begins_no_path(sliced: Scenario) -> None:
    ending(sliced, packing(duration="PT2H"))
    timer = next(iter(sliced.instance.subscriptions.values()))
    sliced.now = timer.due

    sliced.execute(timer_commands.TriggerTimer("default", timer.key, timer.due))

    entered = [event.element_id for event in sliced.happened(events.ElementActivating)]
    assert not [name for name in entered if name.startswith("nag")]
    assert sliced.is_completed
    sliced.expect_laws()
