from datetime import timedelta

import pytest

from server.bpmn.builder import ProcessBuilder, process, sub_process
from server.engine.rejection import Rejected, RejectionType
from tests.durable import EPOCH
from tests.server.engine.scenario import Scenario

HOUR = timedelta(hours=1)


def guarded(
    name: str = "order", task: str = "charge", *, timer: str | None = "late", duration: str = "PT2H"
) -> ProcessBuilder:
    builder = process(name).service_task(task, type="charge").end("done")
    if timer is not None:
        builder.boundary_timer(timer, on=task, duration=duration).end("expired")
    return builder


@pytest.fixture
def started(engine: Scenario) -> Scenario:
    """For an hour."""
    return engine.deploy(guarded()).start().advance(HOUR)


def test_a_mapped_timer_keeps_the_time_that_is_left(started: Scenario) -> None:
    started.deployment(guarded("other", "pay", timer="slow", duration="PT9H"))

    started.migrate("other", {"charge": "pay", "late": "slow"})

    (timer,) = started.instance.subscriptions.values()
    assert (timer.element_id, timer.due) == ("slow", EPOCH + 2 * HOUR)
    assert started.advance(HOUR).path == ["start", "slow", "expired"]
    assert started.is_completed


def test_a_timer_that_is_not_mapped_starts_anew_in_the_target(started: Scenario) -> None:
    started.deployment(guarded("other", timer="slow", duration="PT9H"))

    started.migrate("other", {"charge": "charge"})

    (timer,) = started.instance.subscriptions.values()
    assert (timer.element_id, timer.due) == ("slow", EPOCH + 10 * HOUR)


def test_a_timer_without_counterpart_is_closed(started: Scenario) -> None:
    started.deployment(guarded("other", timer=None))

    started.migrate("other", {"charge": "charge"}).advance(9 * HOUR)

    assert started.instance.subscriptions == {}
    assert started.offered == ["charge"]


def test_a_timer_in_the_flow_goes_with_its_event(engine: Scenario) -> None:
    engine.deploy(process("order").timer_catch("wait", duration="PT2H").end()).start()
    engine.deployment(process("other").timer_catch("pause", duration="PT9H").end("done"))

    engine.migrate("other", {"wait": "pause"}).advance(2 * HOUR)

    assert engine.is_completed


def test_a_timer_may_interrupt_no_longer(started: Scenario) -> None:
    target = process("other").service_task("charge", type="charge").end("done")
    target.boundary_timer("late", on="charge", is_interrupting=False, duration="PT2H").end("expired")
    started.deployment(target)

    started.migrate("other", {"charge": "charge", "late": "late"}).advance(HOUR)

    assert started.offered == ["charge"]
    assert started.path == ["start", "late", "expired"]


def test_a_timer_stays_on_its_element(started: Scenario) -> None:
    target = guarded("other", timer=None).branch("charge").service_task("ship", type="ship").end("shipped")
    started.deployment(target.boundary_timer("late", on="ship", duration="PT2H").end("expired"))

    with pytest.raises(Rejected, match="is mapped to 'late', which is on another element") as caught:
        started.migrate("other", {"charge": "charge", "late": "late"})

    assert caught.value.type is RejectionType.INVALID_STATE


def test_two_timers_do_not_become_one(engine: Scenario) -> None:
    source = guarded().boundary_timer("later", on="charge", duration="PT3H").end("gone")
    engine.deploy(source).start()
    engine.deployment(guarded("other"))

    with pytest.raises(Rejected, match="are both mapped to 'late'"):
        engine.migrate("other", {"charge": "charge", "late": "late", "later": "late"})


def test_a_timer_that_means_nothing_in_the_target_refuses_the_migration(started: Scenario) -> None:
    started.deployment(guarded("other", timer="slow", duration="=patience"))

    with pytest.raises(Rejected, match="element 'charge' cannot wait"):
        started.migrate("other", {"charge": "charge"})


def test_the_parts_of_a_sub_process_go_with_it(engine: Scenario) -> None:
    def nested(name: str, prefix: str) -> ProcessBuilder:
        inner = sub_process(f"{prefix}pack").service_task(f"{prefix}wrap", type="wrap").end()
        outer = process(name).embed(inner).end("done")
        return outer.boundary_timer(f"{prefix}late", on=f"{prefix}pack", duration="PT1H").end("expired")

    engine.deploy(nested("order", "")).start()
    engine.deployment(nested("other", "new_"))

    engine.migrate("other", {"pack": "new_pack", "wrap": "new_wrap", "late": "new_late"})

    assert engine.element("new_wrap").scope_key == engine.element("new_pack").key
    assert engine.complete("wrap").is_completed


def test_a_listener_goes_on_where_the_target_has_as_many(engine: Scenario) -> None:
    def listened(name: str, *types: str) -> ProcessBuilder:
        builder = process(name).service_task("charge", type="charge")
        for each in types:
            builder.execution_listener("start", type=each)
        return builder.end("done")

    engine.deploy(listened("order", "a", "b")).start().complete("a")
    engine.deployment(listened("fewer", "a"))
    engine.deployment(listened("other", "c", "d"))

    with pytest.raises(Rejected, match="of which 'charge' has another number"):
        engine.migrate("fewer", {"charge": "charge"})
    engine.migrate("other", {"charge": "charge"}).complete("b")

    assert engine.offered == ["charge"]
