"""Faults of ours in the middle of a command.

In the step of an element a fault becomes an incident there, elsewhere everything that the command began is taken back.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from operator import methodcaller

import msgspec
import pytest

from server.bpmn.builder import ProcessBuilder, process
from server.bpmn.reader import BpmnReadError
from server.engine.deployment_commands import DeployResources
from server.engine.incidents import ErrorType
from server.engine.job_commands import ActivateJobs
from server.engine.process_instance_commands import CreateProcessInstance, SetVariables
from server.engine.timer_commands import TriggerTimer
from tests.server.engine.player import photograph
from tests.server.engine.scenario import MINUTE, Scenario, resource
from tests.server.engine.strategies import POISON


def poison(engine: Scenario, name: str) -> None:
    """Make a variable of the instance unreadable: the border lets no such text through."""
    engine.instance.variables[engine.instance_key][name].value = POISON


def heal(engine: Scenario, name: str) -> None:
    engine.instance.variables[engine.instance_key][name].value = "true"


class FailingLater(tuple[str, ...]):  # noqa: SLOT001  # it counts
    """Can be gone through once."""

    times = 0

    def __iter__(self) -> Iterator[str]:
        self.times += 1
        if self.times > 1:
            raise RuntimeError("a fault of ours")
        return super().__iter__()


def test_a_completion_takes_effect_and_the_element_with_the_fault_has_an_incident(engine: Scenario) -> None:
    builder = process("order").service_task("a", type="a").task("pass").exclusive_gateway("decide")
    engine.deploy(builder.flow(condition="=answer").end()).start(answer=True)
    poison(engine, "answer")

    engine.complete("a")

    assert (engine.incident.element_id, engine.incident.error_type) == ("decide", ErrorType.UNKNOWN)
    assert engine.incident.message.startswith("A fault of the server stopped this step: DecodeError")
    heal(engine, "answer")
    assert engine.resolve().is_completed


def test_a_start_takes_effect_and_the_element_with_the_fault_has_an_incident(engine: Scenario) -> None:
    inputs = {"first": "=1", "second": "=answer"}
    engine.deploy(process("order").service_task("a", type="a", inputs=inputs).end())

    # The text never passes the border; the laws of the story hold, because the instance ends.
    engine.create(
        CreateProcessInstance(
            tenant_id="default", process_definition_id="order", variables={"answer": POISON}
        )
    )

    assert engine.incident.element_id == "a"
    assert "first" not in engine.variables(engine.element("a").key)
    key = engine.instance_key
    change = SetVariables(
        tenant_id="default", process_instance_key=key, element_instance_key=key, variables={"answer": "2"}
    )
    engine.execute(change)
    engine.resolve()
    assert engine.variables(engine.element("a").key) == {"first": 1, "second": 2}


def decision(wait: ProcessBuilder) -> ProcessBuilder:
    """Behind the wait, a gateway reads the variable `answer`."""
    return wait.exclusive_gateway("decide").flow(condition="=answer").end()


def boundary(*, is_interrupting: bool) -> ProcessBuilder:
    host = process("order").service_task("a", type="a").end("done")
    return host.boundary_timer("late", on="a", is_interrupting=is_interrupting, duration="PT1M")


def event_sub_process() -> ProcessBuilder:
    begin = process("stop").start_timer("begin", duration="PT1M")
    return process("order").beside(decision(begin)).service_task("a", type="a").end()


def caller() -> ProcessBuilder:
    return process("order").call_activity("call", process="called", child_variables=False)


def called() -> ProcessBuilder:
    return process("called").timer_catch("wait", duration="PT1M").end()


MESSAGE, SIGNAL = "go", "went"
MINUTE_PASSES: Callable[[Scenario], object] = methodcaller("advance", MINUTE)

TRIGGERS = [
    pytest.param(
        decision(process("order").timer_catch("wait", duration="PT1M")), MINUTE_PASSES, id="timer catch event"
    ),
    pytest.param(
        decision(boundary(is_interrupting=True)), MINUTE_PASSES, id="interrupting timer boundary event"
    ),
    pytest.param(decision(boundary(is_interrupting=False)), MINUTE_PASSES, id="timer boundary event"),
    pytest.param(event_sub_process(), MINUTE_PASSES, id="timer of an event sub-process"),
    pytest.param(
        decision(process("order").message_catch("wait", message=MESSAGE, key="=1")),
        methodcaller("publish", MESSAGE, "1"),
        id="message catch event",
    ),
    pytest.param(
        decision(process("order").receive_task("wait", message=MESSAGE, key="=1")),
        methodcaller("correlate", MESSAGE, "1"),
        id="receive task",
    ),
    pytest.param(
        decision(process("order").signal_catch("wait", signal=SIGNAL)),
        methodcaller("broadcast", SIGNAL),
        id="signal catch event",
    ),
    pytest.param(decision(caller()), MINUTE_PASSES, id="end of a called process instance"),
    pytest.param(
        decision(process("order").service_task("a", type="a")), methodcaller("complete", "a"), id="job"
    ),
    pytest.param(
        decision(process("order").user_task("wait")),
        methodcaller("complete_user_task", "wait"),
        id="user task",
    ),
]


@pytest.mark.parametrize(("waiting", "trigger"), TRIGGERS)
def test_a_fault_behind_a_trigger_is_an_incident_that_can_be_resolved(
    engine: Scenario, waiting: ProcessBuilder, trigger: Callable[[Scenario], object]
) -> None:
    engine.deploy(waiting, called()).start("order", answer=True)
    poison(engine, "answer")

    trigger(engine)

    assert (engine.incident.element_id, engine.incident.error_type) == ("decide", ErrorType.UNKNOWN)
    heal(engine, "answer")
    engine.resolve()
    assert not engine.is_running or not engine.instance.incidents


def test_a_due_timer_that_fails_as_a_whole_is_an_incident_and_fires_when_that_is_resolved(
    engine: Scenario,
) -> None:
    engine.deploy(process("order").timer_catch("wait", duration="PT1M").end()).start()
    (timer,) = engine.instance.subscriptions.values()
    faulty = msgspec.structs.replace(timer, repetitions=2, interval="no time")
    engine.instance.subscriptions[timer.key] = faulty

    engine.advance(MINUTE)

    assert (engine.incident.element_id, engine.incident.error_type) == ("wait", ErrorType.UNKNOWN)
    engine.instance.subscriptions[timer.key] = timer
    assert engine.resolve().is_completed


def test_a_due_timer_that_fails_twice_has_one_incident() -> None:
    engine = Scenario()
    engine.deploy(process("order").timer_catch("wait", duration="PT1M").end()).start()
    (timer,) = engine.instance.subscriptions.values()
    faulty = msgspec.structs.replace(timer, repetitions=2, interval="no time")
    engine.instance.subscriptions[timer.key] = faulty
    engine.advance(MINUTE)

    engine.carry_out(TriggerTimer("default", timer.key, timer.due))

    assert len(engine.instance.incidents) == 1


def test_an_activation_that_falls_over_gives_every_job_back_to_its_place(engine: Scenario) -> None:
    engine.deploy(process("order").service_task("a", type="a").end())
    instances = [engine.start().instance_key for _ in range(3)]
    engine.fail("a", retries=2)
    before = photograph(engine.state)
    command = ActivateJobs(
        tenant_id="default",
        type="a",
        worker="w",
        timeout=MINUTE,
        max_jobs=3,
        fetch_variables=FailingLater(("x",)),
    )

    with pytest.raises(RuntimeError):
        engine.execute(command)

    assert photograph(engine.state) == before
    assert [job.instance.key for job in engine.activate("a")] == [*instances[1:], instances[0]]


def test_a_deployment_that_falls_over_leaves_no_definition(engine: Scenario) -> None:
    engine.deploy(process("order").end())
    before = photograph(engine.state)
    order, refund = resource(process("order").task("more").end()), resource(process("refund").end())
    unreadable = replace(refund, content=b"<html/>")

    with pytest.raises(BpmnReadError):
        engine.execute(DeployResources("default", (order, unreadable)))

    assert photograph(engine.state) == before
    (again,) = engine.deployment(process("order").task("more").end()).definitions
    assert again.version == 2


def test_time_goes_on_after_a_fault(engine: Scenario) -> None:
    builder = (
        process("order").service_task("a", type="a").exclusive_gateway("decide").flow(condition="=x").end()
    )
    engine.deploy(builder).start().activate("a", timeout=MINUTE)

    unreadable = replace(resource(process("refund").end()), content=b"<html/>")

    with pytest.raises(BpmnReadError):
        engine.execute(DeployResources("default", (unreadable,)))

    engine.advance(MINUTE)
    assert engine.offered == ["a"]
    assert engine.advance(timedelta(hours=1)).is_running
