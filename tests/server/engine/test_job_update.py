from datetime import timedelta

import pytest

from server.bpmn.builder import process
from server.engine.events import JobDeadlineUpdated, JobRetriesUpdated
from server.engine.job_commands import EndJobBackOff, FailJob, TimeOutJob, UpdateJob
from server.engine.keys import Key
from server.engine.process_instance import JobState
from server.engine.rejection import RejectionType
from tests.server.engine.scenario import MINUTE, Scenario


@pytest.fixture
def waiting(engine: Scenario) -> Scenario:
    return engine.deploy(process("order").service_task("charge", type="charge").end()).start()


def update(engine: Scenario, **changes: object) -> UpdateJob:
    return UpdateJob(tenant_id="default", job_key=engine.job("charge").key, **changes)  # type: ignore[arg-type]


def test_retries_change_whether_activated_or_not(waiting: Scenario) -> None:
    waiting.execute(update(waiting, retries=9))
    (job,) = waiting.activate("charge")
    waiting.execute(update(waiting, retries=8))

    assert job.retries == 9
    assert waiting.job("charge").retries == 8


def test_a_later_deadline_replaces_the_earlier_one(waiting: Scenario) -> None:
    waiting.activate("charge", timeout=MINUTE)

    waiting.execute(update(waiting, timeout=5 * MINUTE))

    assert waiting.advance(4 * MINUTE).job("charge").state is JobState.ACTIVATED
    assert waiting.advance(MINUTE).job("charge").state is JobState.ACTIVATABLE


def test_an_earlier_deadline_replaces_the_later_one(waiting: Scenario) -> None:
    waiting.activate("charge", timeout=MINUTE)

    waiting.execute(update(waiting, timeout=timedelta(seconds=1)))

    assert waiting.advance(timedelta(seconds=1)).job("charge").state is JobState.ACTIVATABLE


def test_both_change_together(waiting: Scenario) -> None:
    waiting.activate("charge")
    head, key = waiting.instance.head, waiting.job("charge").key

    waiting.execute(update(waiting, retries=1, timeout=MINUTE))

    assert waiting.last_events == [
        JobRetriesUpdated(head, key, 1),
        JobDeadlineUpdated(head, key, waiting.now + MINUTE),
    ]


def test_only_an_activated_job_has_a_deadline_to_change(waiting: Scenario) -> None:
    refusal = waiting.refusal(update(waiting, retries=1, timeout=MINUTE))

    assert refusal.type is RejectionType.INVALID_STATE
    assert waiting.job("charge").retries == 3


def test_an_unknown_job_is_not_found(engine: Scenario) -> None:
    command = UpdateJob(tenant_id="default", job_key=Key(42), retries=1)

    assert engine.refusal(command).type is RejectionType.NOT_FOUND


def test_a_deadline_offers_the_job_again_with_its_retries(waiting: Scenario) -> None:
    (first,) = waiting.activate("charge", timeout=MINUTE)

    waiting.advance(MINUTE)

    (again,) = waiting.activate("charge")
    assert (again.key, again.retries) == (first.key, 3)


def test_a_deadline_that_was_overtaken_does_nothing(waiting: Scenario) -> None:
    waiting.activate("charge", timeout=MINUTE)

    waiting.advance(MINUTE).activate("charge", timeout=5 * MINUTE)

    assert waiting.advance(MINUTE).job("charge").state is JobState.ACTIVATED


def test_time_that_comes_late_does_nothing(waiting: Scenario) -> None:
    """Commands of time name what they were made for."""
    (first,) = waiting.activate("charge", timeout=MINUTE)
    waiting.execute(update(waiting, timeout=5 * MINUTE))
    waiting.execute(TimeOutJob("default", first.key, first.deadline))
    events = [waiting.last_events]
    waiting.execute(FailJob(tenant_id="default", job_key=first.key, retries=1, retry_back_off=MINUTE))
    for late in (
        TimeOutJob("default", first.key, first.deadline),
        EndJobBackOff("default", first.key, waiting.now),
    ):
        waiting.execute(late)
        events.append(waiting.last_events)
    waiting.execute(TimeOutJob("default", Key(42), first.deadline))

    assert events == [[], [], []]
    assert waiting.last_events == []
    assert waiting.job("charge").state is JobState.BACKING_OFF
