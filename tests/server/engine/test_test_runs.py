"""Virtual time of test runs: their timers fire before they are due."""

from datetime import timedelta

import pytest

from server.bpmn.builder import ProcessBuilder, process
from server.engine import process_instance_commands, timer_commands
from server.engine.keys import Key
from server.engine.rejection import RejectionType
from server.engine.subscriptions import TimerSubscription
from server.engine.test_runs import TAG
from tests.server.engine.scenario import Scenario

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
WAITING = process("order").timer_catch("wait", duration="P1D").end("done")
REMINDED = (
    process("order").service_task("charge", type="charge").end("done")
    .boundary_timer("late", on="charge", is_interrupting=False, cycle="R2/PT1H")
    .service_task("remind", type="remind").end("reminded")
)  # fmt: skip


def tried(engine: Scenario, model: ProcessBuilder, *others: ProcessBuilder, tag: str = TAG) -> Scenario:
    engine.deploy(model, *others)
    return engine.create(
        process_instance_commands.CreateProcessInstance(
            tenant_id=engine.tenant_id, process_definition_id=engine.process_id, tags=(tag,)
        )
    )


def timer_of(engine: Scenario) -> TimerSubscription:
    (timer,) = engine.instance.subscriptions.values()
    assert isinstance(timer, TimerSubscription)
    return timer


def firing(engine: Scenario, timer_key: Key, tenant_id: str = "default") -> timer_commands.FireTimer:
    return timer_commands.FireTimer(tenant_id, engine.instance_key, timer_key)


def test_a_timer_of_a_test_run_fires_before_it_is_due(engine: Scenario) -> None:
    tried(engine, WAITING)

    engine.execute(firing(engine, timer_of(engine).key))

    assert engine.path == ["start", "wait", "done"]
    assert engine.is_completed


def test_a_timer_that_fired_early_does_not_fire_again_when_it_is_due(engine: Scenario) -> None:
    tried(engine, REMINDED)
    timer = timer_of(engine)
    engine.execute(firing(engine, timer.key))
    engine.execute(firing(engine, timer.key))

    engine.advance(DAY)

    assert engine.path.count("late") == 2


def test_a_cycle_that_fires_early_keeps_its_rhythm(engine: Scenario) -> None:
    tried(engine, REMINDED)
    first = timer_of(engine)

    engine.execute(firing(engine, first.key))

    assert timer_of(engine).due == first.due + HOUR
    assert timer_of(engine).repetitions == 1


def test_timers_of_instances_that_a_test_run_calls_fire_early_too(engine: Scenario) -> None:
    caller = process("caller").call_activity("each", process="order").end("over")
    tried(engine, caller, WAITING)
    root = engine.instance_key
    (called,) = [each for each in engine.state.instances.values() if each.head.key != root]
    (timer,) = called.subscriptions

    engine.execute(timer_commands.FireTimer("default", called.head.key, timer))

    assert root not in engine.state.instances


@pytest.mark.parametrize(
    ("tag", "tenant", "is_known", "refusal"),
    [
        pytest.param("test", "default", True, RejectionType.INVALID_STATE, id="no test run"),
        pytest.param(TAG, "other", True, RejectionType.NOT_FOUND, id="another tenant's"),
        pytest.param(TAG, "default", False, RejectionType.NOT_FOUND, id="no such timer"),
    ],
)
def test_other_timers_keep_their_time(
    engine: Scenario, tag: str, tenant: str, *, is_known: bool, refusal: RejectionType
) -> None:
    tried(engine, WAITING, tag=tag)
    timer = timer_of(engine)
    key = timer.key if is_known else engine.instance_key

    rejection = engine.refusal(firing(engine, key, tenant))

    assert rejection.type is refusal
    assert timer_of(engine) == timer
    assert engine.path == ["start"]


def test_a_test_run_that_has_ended_has_no_timers(engine: Scenario) -> None:
    tried(engine, WAITING)
    key = timer_of(engine).key
    engine.cancel()

    assert engine.refusal(firing(engine, key)).type is RejectionType.NOT_FOUND
