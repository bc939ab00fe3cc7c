import pytest

from server.bpmn.builder import ProcessBuilder, definitions, event_sub_process, process, sub_process
from server.engine import events
from server.engine.incidents import ErrorType
from server.engine.limits import EngineLimits
from tests.server.engine.scenario import Scenario

CODES = {"late": "late", "lost": "lost", "any_code": "=code"}


def deploy(engine: Scenario, builder: ProcessBuilder) -> Scenario:
    return engine.deploy(definitions(builder, escalations=CODES))


def asking(escalation: str = "late") -> ProcessBuilder:
    """A sub-process that escalates and goes on."""
    return (
        sub_process("pack")
        .throw_escalation("ask", escalation=escalation)
        .service_task("wrap", type="wrap")
        .end()
    )


def help_(
    element_id: str = "help", escalation: str | None = None, *, is_interrupting: bool = True
) -> ProcessBuilder:
    started = event_sub_process(element_id).start_escalation(
        f"{element_id}_start", escalation=escalation, is_interrupting=is_interrupting
    )
    return started.service_task(f"{element_id}_task", type="help").end()


@pytest.mark.parametrize("builder", [
    process("order").throw_escalation("ask", escalation="late").end("done"),
    process("order").end_escalation("done", escalation="late"),
])  # fmt: skip
def test_an_escalation_that_nobody_catches_changes_nothing(engine: Scenario, builder: ProcessBuilder) -> None:
    deploy(engine, builder).start()

    assert engine.path[-1] == "done"
    assert engine.is_completed


def test_an_interrupting_boundary_event_ends_the_sub_process_and_the_thrower_goes_nowhere(
    engine: Scenario,
) -> None:
    outer = process("order").embed(asking()).end("done")
    deploy(
        engine, outer.boundary_escalation("caught", on="pack").service_task("call", type="call").end()
    ).start()

    assert engine.path == ["start", "pack_start", "caught"]
    assert engine.offered == ["call"]


def test_the_listeners_at_the_end_of_a_thrower_that_is_interrupted_are_not_asked(engine: Scenario) -> None:
    inner = (
        sub_process("pack")
        .throw_escalation("ask", escalation="late")
        .execution_listener("end", type="told")
        .end()
    )
    outer = process("order").embed(inner).end("done")
    deploy(engine, outer.boundary_escalation("caught", on="pack").end()).start()

    assert engine.is_completed
    assert engine.happened(events.JobCreated) == []


def test_one_that_does_not_interrupt_begins_a_path_and_the_thrower_goes_on(engine: Scenario) -> None:
    outer = process("order").embed(asking()).end("done")
    outer.boundary_escalation("caught", on="pack", is_interrupting=False).service_task(
        "call", type="call"
    ).end()
    deploy(engine, outer).start()

    assert sorted(engine.offered) == ["call", "wrap"]


@pytest.mark.parametrize("is_interrupting", [True, False])
def test_an_end_event_escalates_as_an_intermediate_one_does(engine: Scenario, is_interrupting: bool) -> None:  # noqa: FBT001  # a parameter of pytest
    outer = process("order").embed(sub_process("pack").end_escalation("ask", escalation="late"))
    outer.service_task("ship", type="ship").end()
    outer.boundary_escalation("caught", on="pack", is_interrupting=is_interrupting)
    deploy(engine, outer.service_task("call", type="call").end()).start()

    assert sorted(engine.offered) == (["call"] if is_interrupting else ["call", "ship"])


@pytest.mark.parametrize(("code", "way"), [("late", "exact"), ("lost", "any")])
def test_the_event_with_the_code_comes_before_one_for_every_escalation(
    engine: Scenario, code: str, way: str
) -> None:
    outer = process("order").embed(asking("any_code")).end("done")
    outer.boundary_escalation("any", on="pack").end("a")
    deploy(engine, outer.boundary_escalation("exact", on="pack", escalation="late").end("b")).start(code=code)

    assert engine.path[2] == way


def test_an_event_sub_process_catches_what_its_scope_throws(engine: Scenario) -> None:
    builder = process("order").throw_escalation("ask", escalation="late").service_task("go", type="go").end()
    deploy(engine, builder.beside(help_())).start()

    assert engine.offered == ["help_task"]
    engine.complete("help")
    assert engine.path[-1] == "help"
    assert engine.is_completed


def test_one_beside_the_scope_runs_once_for_each_escalation(engine: Scenario) -> None:
    builder = (
        process("order").throw_escalation("one", escalation="late").throw_escalation("two", escalation="late")
    )
    deploy(engine, builder.end().beside(help_(is_interrupting=False))).start()

    assert engine.offered == ["help_task", "help_task"]
    engine.complete("help").complete("help")
    assert engine.is_completed


def test_an_escalation_goes_outwards_to_the_scope_that_catches_it(engine: Scenario) -> None:
    outer = process("order").embed(asking()).end().beside(help_(is_interrupting=False))
    deploy(engine, outer).start()

    assert sorted(engine.offered) == ["help_task", "wrap"]


def test_errors_and_escalations_of_the_same_code_are_not_confused(engine: Scenario) -> None:
    outer = process("order").embed(asking()).end("done").boundary_error("failed", on="pack").end()
    deploy(engine, outer).start()

    assert engine.offered == ["wrap"]


def test_a_code_that_is_no_text_raises_an_incident(engine: Scenario) -> None:
    deploy(engine, process("order").throw_escalation("ask", escalation="any_code").end()).start(code=1)
    assert engine.incident.error_type is ErrorType.EXTRACT_VALUE_ERROR

    engine.cancel()


def test_an_escalation_that_begins_what_throws_it_is_an_incident() -> None:
    engine = Scenario(limits=EngineLimits(activations=100))
    again = event_sub_process("again").start_escalation("caught", is_interrupting=False)
    builder = process("order").throw_escalation("ask", escalation="late").end()
    deploy(engine, builder.beside(again.end_escalation("more", escalation="late"))).start()

    assert engine.incident.error_type is ErrorType.UNKNOWN
    assert "Expected a wait state within 100 elements" in engine.incident.message


def test_escalating_from_several_paths_begins_one_for_each(engine: Scenario) -> None:
    builder = process("order").parallel_gateway("split")
    for number in range(30):
        builder.branch("split").throw_escalation(f"ask{number}", escalation="late").end()
    deploy(engine, builder.beside(help_(is_interrupting=False))).start()

    assert engine.offered == ["help_task"] * 30


def test_an_event_at_a_user_task_has_nothing_to_catch(engine: Scenario) -> None:
    """The reference lets it stand there; a user task throws no escalations, and completes as without it."""
    outer = process("order").start().user_task("check").end("done")
    deploy(engine, outer.boundary_escalation("caught", on="check").end("late")).start()

    engine.complete_user_task("check")

    assert engine.path == ["start", "check", "done"]
    assert engine.is_completed
