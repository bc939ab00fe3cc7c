from datetime import timedelta

import pytest

from server.bpmn.builder import ProcessBuilder, process
from server.engine import events
from server.engine.incidents import ErrorType
from tests.server.engine.scenario import Scenario

HOUR = timedelta(hours=1)


def race(process_id: str = "order", *, first: str = "PT1H", second: str = "PT2H") -> ProcessBuilder:
    builder = process(process_id).event_based_gateway("race").timer_catch("soon", duration=first).end("early")
    return builder.branch("race").timer_catch("late", duration=second).end("expired")


def test_the_gateway_is_left_to_the_event_that_is_triggered_first(engine: Scenario) -> None:
    engine.deploy(race()).start()
    assert len(engine.instance.subscriptions) == 2

    engine.advance(3 * HOUR)

    assert engine.path == ["start", "race", "soon", "early"]
    assert engine.is_completed
    assert engine.state.owners == {}


@pytest.mark.parametrize(("first", "second", "way"), [("PT2H", "PT1H", "late"), ("PT1H", "PT1H", "soon")])
def test_one_event_wins_and_the_others_are_closed(
    engine: Scenario, first: str, second: str, way: str
) -> None:
    engine.deploy(race(first=first, second=second)).start().advance(HOUR)

    assert engine.path[2] == way
    assert len(engine.happened(events.SubscriptionClosed)) == 2


def test_the_flow_to_the_event_is_taken(engine: Scenario) -> None:
    engine.deploy(race()).start().advance(HOUR)

    assert "race_to_soon" in [event.flow_id for event in engine.happened(events.SequenceFlowTaken)]


def test_an_event_that_means_nothing_keeps_the_gateway_from_waiting_at_all(engine: Scenario) -> None:
    engine.deploy(race(second="=patience")).start(patience=None)

    assert engine.incident.error_type is ErrorType.EXTRACT_VALUE_ERROR
    assert engine.incident.element_id == "race"
    assert engine.instance.subscriptions == {}


def test_a_gateway_that_waits_is_migrated_with_its_events(engine: Scenario) -> None:
    engine.deploy(race("later", first="PT9H", second="PT1M")).deploy(race()).start()

    engine.migrate("later", {"race": "race", "soon": "soon"}).advance(timedelta(minutes=1))

    assert engine.path == ["start", "race", "late", "expired"]


def test_an_event_that_is_kept_keeps_its_time(engine: Scenario) -> None:
    engine.deploy(race("later", first="PT9H", second="PT9H")).deploy(race()).start()

    engine.migrate("later", {"race": "race", "soon": "soon"}).advance(HOUR)

    assert engine.path == ["start", "race", "soon", "early"]


def test_a_gateway_of_an_instance_that_is_cancelled_waits_no_more(engine: Scenario) -> None:
    engine.deploy(race()).start().cancel().advance(5 * HOUR)

    assert engine.path == ["start"]
    assert engine.state.owners == {}
