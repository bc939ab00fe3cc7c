from datetime import timedelta

import pytest

from server.bpmn.builder import ProcessBuilder, definitions, event_sub_process, process, sub_process
from server.engine import events, job_commands, process_instance_commands, timer_commands
from server.engine import process as handle
from server.engine.incidents import ErrorType
from server.engine.job_commands import ThrowJobError
from server.engine.limits import ENTERING_STEPS, EngineLimits
from server.store import entities
from tests.server.engine.scenario import Scenario, texts

SECOND, HOUR = timedelta(seconds=1), timedelta(hours=1)
CODES = {"declined": "declined", "lost": "lost"}


def reminder(*, is_interrupting: bool = True, **timer: str) -> ProcessBuilder:
    """Begins with a timer and does a job."""
    started = event_sub_process("help").start_timer("late", is_interrupting=is_interrupting, **timer)
    return started.service_task("remind", type="remind").end("reminded")


def rescue(error: str | None = None, element_id: str = "help") -> ProcessBuilder:
    """Begins with an error and does a job."""
    started = event_sub_process(element_id).start_error(f"{element_id}_caught", error=error)
    return started.service_task(f"{element_id}_mend", type="mend").end()


def throw(engine: Scenario, job_type: str, code: str = "declined") -> None:
    (job,) = engine.activate(job_type)
    engine.execute(
        ThrowJobError(
            tenant_id="default", job_key=job.key, error_code=code, variables=texts({"reason": "poor"})
        )
    )


# Interrupting


@pytest.mark.parametrize("timer", [{"duration": "PT1H"}, {"duration": "=patience"}])
def test_an_interrupting_one_ends_everything_else_and_runs(engine: Scenario, timer: dict[str, str]) -> None:
    builder = process("order").beside(reminder(**timer)).parallel_gateway("split")
    for name in "abc":
        builder.branch("split").service_task(name, type=name).end()
    engine.deploy(builder).start(patience="PT1H")

    engine.advance(HOUR)

    assert len(engine.happened(events.JobCanceled)) == 3
    assert engine.offered == ["remind"]
    engine.complete("remind")
    assert engine.path == ["start", "split", "late", "remind", "reminded", "help"]
    assert engine.is_completed


def test_it_lies_in_the_scope_whose_event_it_caught_under_its_own_type(engine: Scenario) -> None:
    inner = sub_process("pack").service_task("wrap", type="wrap").end().beside(reminder(duration="PT1H"))
    engine.deploy(process("order").embed(inner).end()).start().advance(HOUR)

    row = engine.rows.get(entities.ElementInstance, engine.element("help").key)

    assert (row.type, row.element_id) == ("EVENT_SUB_PROCESS", "help")
    assert engine.element("help").scope_key == engine.element("pack").key
    assert engine.element("remind").scope_key == engine.element("help").key


def test_the_scope_completes_and_is_left_when_it_is_done(engine: Scenario) -> None:
    inner = sub_process("pack").service_task("wrap", type="wrap").end().beside(reminder(duration="PT1H"))
    engine.deploy(process("order").embed(inner).service_task("ship", type="ship").end()).start().advance(HOUR)

    engine.complete("remind")

    assert engine.offered == ["ship"]


def test_its_subscription_opens_before_the_start_event_and_closes_with_the_scope(engine: Scenario) -> None:
    engine.deploy(
        process("order").service_task("go", type="go").end().beside(reminder(duration="PT1H"))
    ).start()
    opened = engine.events.index(engine.happened(events.SubscriptionOpened)[0])
    entered = engine.events.index(engine.happened(events.ElementActivating)[0])

    engine.complete("go").advance(2 * HOUR)

    assert opened < entered
    assert engine.is_completed
    assert "late" not in engine.path


def test_only_one_interrupting_one_can_win(engine: Scenario) -> None:
    other = event_sub_process("other").start_timer("later", duration="PT2H").end()
    builder = process("order").service_task("go", type="go").end().beside(reminder(duration="PT1H"))
    engine.deploy(builder.beside(other)).start().advance(HOUR)

    engine.advance(5 * HOUR)

    assert engine.instance.subscriptions == {}
    assert engine.offered == ["remind"]


def test_the_boundary_of_a_scope_still_ends_it_after_it_was_interrupted(engine: Scenario) -> None:
    inner = sub_process("pack").service_task("wrap", type="wrap").end().beside(reminder(duration="PT1H"))
    outer = process("order").embed(inner).end("done").boundary_timer("too_late", on="pack", duration="PT2H")
    engine.deploy(outer.end("expired")).start().advance(HOUR)

    engine.advance(HOUR)

    assert engine.path[-2:] == ["too_late", "expired"]
    assert engine.is_completed


def test_a_timer_that_means_nothing_raises_an_incident_before_anything_begins(engine: Scenario) -> None:
    builder = process("order").service_task("go", type="go").end().beside(reminder(duration="=patience"))
    engine.deploy(builder).start(patience=None)

    assert engine.incident.error_type is ErrorType.EXTRACT_VALUE_ERROR
    assert engine.incident.element_id == "order"
    assert engine.offered == []


# Not interrupting


def test_one_that_does_not_interrupt_runs_beside_the_scope_as_often_as_it_is_triggered(
    engine: Scenario,
) -> None:
    builder = process("order").service_task("go", type="go").end()
    engine.deploy(builder.beside(reminder(is_interrupting=False, cycle="R3/PT1H"))).start()

    for _ in range(5):
        engine.advance(HOUR)

    assert engine.offered == ["go", "remind", "remind", "remind"]
    engine.complete("go").complete("remind").complete("remind")
    assert engine.is_running
    engine.complete("remind")
    assert engine.is_completed


def test_a_scope_that_has_completed_but_for_it_takes_no_more_triggers_when_it_ends(engine: Scenario) -> None:
    builder = process("order").service_task("go", type="go").end()
    engine.deploy(builder.beside(reminder(is_interrupting=False, cycle="R/PT1H"))).start().advance(HOUR)
    engine.complete("go").advance(HOUR)

    engine.complete("remind").complete("remind")

    assert engine.is_completed
    assert engine.state.owners == {}


def test_an_interrupting_one_ends_those_that_run_beside(engine: Scenario) -> None:
    beside = event_sub_process("beside").start_timer("soon", is_interrupting=False, duration="PT1S")
    builder = process("order").service_task("go", type="go").end()
    builder.beside(beside.service_task("nag", type="nag").end()).beside(reminder(duration="PT1H"))
    engine.deploy(builder).start().advance(SECOND)
    assert engine.offered == ["go", "nag"]

    engine.advance(HOUR)

    assert engine.offered == ["remind"]


# Errors


def test_an_error_of_a_job_begins_it_with_its_variables(engine: Scenario) -> None:
    builder = process("order").service_task("charge", type="charge").end().beside(rescue("declined"))
    engine.deploy(definitions(builder, errors=CODES)).start()

    throw(engine, "charge")

    assert engine.offered == ["help_mend"]
    assert engine.variables() == {"reason": "poor"}


def test_output_mappings_of_the_start_event_take_what_came_with_the_error(engine: Scenario) -> None:
    help_ = event_sub_process("help").start_error("caught", outputs={"why": "=reason"}).end()
    engine.deploy(process("order").service_task("charge", type="charge").end().beside(help_)).start()

    throw(engine, "charge")

    assert engine.variables() == {"why": "poor"}


@pytest.mark.parametrize(("code", "way"), [("declined", "help"), ("lost", "any"), ("other", "any")])
def test_the_one_with_the_code_comes_before_one_for_every_error(
    engine: Scenario, code: str, way: str
) -> None:
    builder = process("order").service_task("charge", type="charge").end()
    builder.beside(rescue(element_id="any")).beside(rescue("declined"))
    engine.deploy(definitions(builder, errors=CODES)).start()

    throw(engine, "charge", code)

    assert engine.offered == [f"{way}_mend"]


@pytest.mark.parametrize(
    ("inside", "boundary", "way"),
    [("declined", "declined", "inside"), (None, "declined", "boundary"), (None, None, "inside"),
     ("lost", None, "boundary")],
)  # fmt: skip
def test_at_one_scope_the_code_comes_first_and_then_the_event_sub_process(
    engine: Scenario, inside: str | None, boundary: str | None, way: str
) -> None:
    inner = sub_process("pack").service_task("charge", type="charge").end().beside(rescue(inside, "inside"))
    outer = process("order").embed(inner).end().boundary_error("caught", on="pack", error=boundary)
    engine.deploy(definitions(outer.service_task("boundary_mend", type="mend").end(), errors=CODES)).start()

    throw(engine, "charge")

    assert engine.offered == [f"{way}_mend"]


def test_the_inner_scope_catches_before_the_outer_one(engine: Scenario) -> None:
    inner = sub_process("pack").service_task("charge", type="charge").end().beside(rescue(element_id="inner"))
    outer = process("order").embed(inner).end().beside(rescue("declined", "outer"))
    engine.deploy(definitions(outer, errors=CODES)).start()

    throw(engine, "charge")

    assert engine.offered == ["inner_mend"]


def test_an_error_of_an_error_event_sub_process_goes_on_outwards(engine: Scenario) -> None:
    """The scope was interrupted once; the event on its boundary still catches."""
    inner = sub_process("pack").service_task("charge", type="charge").end().beside(rescue())
    outer = process("order").embed(inner).end().boundary_error("caught", on="pack")
    engine.deploy(definitions(outer.end("failed"), errors=CODES)).start()
    throw(engine, "charge")

    throw(engine, "mend", "lost")

    assert engine.path[-2:] == ["caught", "failed"]
    assert engine.is_completed


def test_an_error_end_event_inside_one_that_does_not_interrupt_begins_the_error_event_sub_process(
    engine: Scenario,
) -> None:
    beside = event_sub_process("beside").start_timer("soon", is_interrupting=False, duration="PT1S")
    builder = process("order").service_task("go", type="go").end()
    builder.beside(beside.end_error("fail", error="lost")).beside(rescue("lost"))
    engine.deploy(definitions(builder, errors=CODES)).start()

    engine.advance(SECOND)

    assert engine.offered == ["help_mend"]
    assert "beside" not in engine.path


# Inside


def test_local_variables_of_it_are_gone_with_it_unless_it_maps_them_out(engine: Scenario) -> None:
    builder = process("order").service_task("go", type="go").end()
    builder.beside(reminder(duration="PT1H"), inputs={"who": '="me"'}, outputs={"told": "=who"})
    engine.deploy(builder).start().advance(HOUR)

    engine.complete("remind")

    assert engine.variables() == {"told": "me"}


def test_it_has_listeners_like_any_sub_process(engine: Scenario) -> None:
    help_ = (
        event_sub_process("help")
        .execution_listener("start", type="before")
        .execution_listener("end", type="after")
    )
    help_.start_timer("late", duration="PT1H").service_task("remind", type="remind").end()
    engine.deploy(process("order").service_task("go", type="go").end().beside(help_)).start().advance(HOUR)

    engine.complete("before").complete("remind").complete("after")

    assert engine.path[-1] == "help"
    assert engine.is_completed


def test_one_inside_another_is_waited_for_while_that_runs(engine: Scenario) -> None:
    inner = event_sub_process("inner").start_timer("soon", duration="PT1S").end()
    outer = reminder(duration="PT1H").beside(inner)
    engine.deploy(process("order").service_task("go", type="go").end().beside(outer)).start().advance(HOUR)

    engine.advance(SECOND)

    assert engine.path[-4:] == ["soon", "inner_end", "inner", "help"]
    assert engine.is_completed


def test_one_inside_another_sees_what_began_that(engine: Scenario) -> None:
    inner = event_sub_process("inner").start_message("more", message="more", key="=id").end()
    outer = event_sub_process("outer").start_message("begun", message="begin", key='="a"')
    outer.service_task("nag", type="nag").end().beside(inner)
    engine.deploy(process("order").service_task("go", type="go").end().beside(outer)).start()

    engine.publish("begin", "a", id="b").publish("more", "b")

    assert engine.path[-4:] == ["more", "inner_end", "inner", "outer"]


def test_a_terminate_end_event_in_it_ends_it_alone(engine: Scenario) -> None:
    beside = event_sub_process("beside").start_timer("soon", is_interrupting=False, duration="PT1S")
    beside.parallel_gateway("split").service_task("nag", type="nag").end().branch("split").end_terminate(
        "stop"
    )
    engine.deploy(process("order").service_task("go", type="go").end().beside(beside)).start()

    engine.advance(SECOND)

    assert engine.offered == ["go"]
    assert engine.path[-1] == "beside"


# In slices


def emptied_in_slices() -> Scenario:
    """Of thirty jobs some are left when the command that terminates them has done enough."""
    engine = Scenario(limits=EngineLimits(slice_steps=2 * ENTERING_STEPS))
    inner = sub_process("pack").beside(reminder(duration="PT1H")).parallel_gateway("split")
    for number in range(30):
        inner.branch("split").service_task(f"wrap{number}", type="wrap").end()
    outer = process("order").embed(inner).end("done").boundary_timer("too_late", on="pack", duration="PT2H")
    engine.deploy(outer.end("expired")).start()
    timer = next(each for each in engine.instance.subscriptions.values() if each.element_id == "late")
    engine.now = timer.due
    step = timer_commands.TriggerTimer("default", timer.key, timer.due)
    engine.happens(handle(engine.state, step, engine.now).events)
    assert engine.instance.work
    return engine


def test_it_begins_when_the_last_of_the_rest_is_gone() -> None:
    engine = emptied_in_slices()
    assert "help" not in {element.element_id for element in engine.instance.elements.values()}

    engine.execute(process_instance_commands.ContinueProcessInstance("default", engine.instance_key))

    assert engine.offered == ["remind"]
    engine.complete("remind")
    assert engine.path[-1] == "done"
    engine.expect_laws()


def test_a_job_that_is_done_meanwhile_leads_nowhere() -> None:
    engine = emptied_in_slices()

    engine.execute(job_commands.CompleteJob("default", next(iter(engine.instance.jobs))))

    assert engine.offered == ["remind"]
    engine.complete("remind")
    assert engine.is_completed
    engine.expect_laws()


def test_an_error_that_is_thrown_meanwhile_is_not_caught() -> None:
    engine = emptied_in_slices()
    job = next(iter(engine.instance.jobs))

    engine.execute(ThrowJobError(tenant_id="default", job_key=job, error_code="lost"))

    assert engine.offered == ["remind"]
    engine.expect_laws()


def test_the_boundary_may_end_the_scope_meanwhile() -> None:
    engine = emptied_in_slices()
    timer = next(each for each in engine.instance.subscriptions.values() if each.element_id == "too_late")

    engine.now = timer.due
    engine.execute(timer_commands.TriggerTimer("default", timer.key, timer.due))

    assert engine.path[-2:] == ["too_late", "expired"]
    assert engine.is_completed
    engine.expect_laws()


# Migration


def migrated(engine: Scenario, target: ProcessBuilder, mapping: dict[str, str]) -> Scenario:
    builder = process("order").service_task("go", type="go").end().beside(reminder(duration="PT1H"))
    engine.deploy(target).deploy(builder).start()
    return engine.migrate("other", {"go": "go", **mapping})


def other(*event_sub_processes: ProcessBuilder) -> ProcessBuilder:
    builder = process("other").service_task("go", type="go").end()
    for each in event_sub_processes:
        builder.beside(each)
    return builder


def test_a_start_event_that_is_mapped_keeps_its_time(engine: Scenario) -> None:
    migrated(engine, other(reminder(duration="PT9H")), {"late": "late", "help": "help"})

    engine.advance(HOUR)

    assert engine.offered == ["remind"]


def test_a_start_event_that_is_not_mapped_is_closed_and_a_new_one_opened(engine: Scenario) -> None:
    migrated(engine, other(reminder(duration="PT9H")), {})

    engine.advance(8 * HOUR)
    assert engine.offered == ["go"]

    engine.advance(HOUR)
    assert engine.offered == ["remind"]


def test_one_that_runs_is_migrated_and_its_scope_begins_no_other(engine: Scenario) -> None:
    source = process("order").service_task("go", type="go").end().beside(reminder(duration="PT1H"))
    more = event_sub_process("more").start_timer("never", duration="PT1S").end()
    engine.deploy(other(reminder(duration="PT1H"), more)).deploy(source).start().advance(HOUR)

    engine.migrate("other", {"help": "help", "remind": "remind"}).advance(HOUR)

    assert engine.offered == ["remind"]
    engine.complete("remind")
    assert engine.is_completed


def test_an_embedded_sub_process_becomes_no_event_sub_process(engine: Scenario) -> None:
    source = process("order").embed(sub_process("pack").service_task("wrap", type="wrap").end()).end()
    engine.deploy(other(reminder(duration="PT1H"))).deploy(source).start()

    refusal = engine.refusal(engine.migration("other", {"pack": "help", "wrap": "remind"}))

    assert (
        "active element 'pack' is a SUB_PROCESS, target element 'help' a EVENT_SUB_PROCESS" in refusal.reason
    )


# The worst


def test_one_that_begins_itself_for_ever_is_an_incident() -> None:
    engine = Scenario(limits=EngineLimits(activations=100))
    again = (
        event_sub_process("again").start_error("caught").parallel_gateway("g").end_error("fail", error="lost")
    )
    builder = process("order").embed(sub_process("pack").end_error("begin", error="lost").beside(again)).end()
    builder.boundary_error("out", on="pack").connect_to("pack")

    engine.deploy(definitions(builder, errors=CODES)).start()

    assert engine.incident.error_type is ErrorType.UNKNOWN
    assert "Expected a wait state within 100 elements" in engine.incident.message
