from datetime import timedelta
from typing import cast

import pytest

from server.bpmn.builder import ProcessBuilder, process
from server.engine.answers import MAX_ANSWER_OCTETS, ActivatedJob, ActivatedJobs
from server.engine.events import JobActivated, JobYielded
from server.engine.job_commands import ActivateJobs, YieldJobs
from server.engine.process_instance import JobState
from tests.server.engine.scenario import MINUTE, Scenario


def charge(**attributes: object) -> ProcessBuilder:
    return process("order").service_task("charge", type="charge", **attributes).end()  # type: ignore[arg-type]


def activation(**changes: object) -> ActivateJobs:
    arguments = {
        "tenant_id": "default",
        "type": "charge",
        "worker": "a",
        "timeout": MINUTE,
        "max_jobs": 10,
        **changes,
    }
    return ActivateJobs(**arguments)  # type: ignore[arg-type]


def test_an_activated_job_is_its_workers_until_the_deadline(engine: Scenario) -> None:
    engine.deploy(charge(retries="7")).start()
    document = engine.instance

    (job,) = engine.activate("charge", timeout=MINUTE)

    assert job.instance is document.head
    assert (job.type, job.element_id, job.retries, job.worker) == ("charge", "charge", 7, "worker")
    assert job.element_instance_key == engine.element("charge").key
    assert job.deadline == engine.now + MINUTE
    stored = engine.job("charge")
    assert (stored.state, stored.worker, stored.due) == (JobState.ACTIVATED, "worker", job.deadline)
    assert engine.last_events == [JobActivated(document.head, job.key, "worker", job.deadline)]


def test_an_activated_job_is_not_offered_to_another_worker(engine: Scenario) -> None:
    engine.deploy(charge()).start().activate("charge")

    assert engine.activate("charge") == ()
    assert engine.last_events == []


def test_the_oldest_jobs_go_first(engine: Scenario) -> None:
    engine.deploy(charge())
    keys = [engine.start().instance_key for _ in range(5)]

    first, rest = engine.activate("charge", most=2), engine.activate("charge")

    assert keys[:2] == [job.instance.key for job in first]
    assert keys[2:] == [job.instance.key for job in rest]


def test_a_job_that_comes_back_goes_behind_those_that_wait(engine: Scenario) -> None:
    engine.deploy(charge())
    first, second = engine.start().instance_key, engine.start().instance_key

    engine.fail("charge", retries=2)

    assert [second, first] == [job.instance.key for job in engine.activate("charge")]


def test_jobs_of_another_type_stay(engine: Scenario) -> None:
    engine.deploy(charge()).start()

    assert engine.activate("refund") == ()
    assert engine.job("charge").state is JobState.ACTIVATABLE


def test_a_worker_gets_every_variable_that_the_task_sees(engine: Scenario) -> None:
    engine.deploy(charge(inputs={"amount": "=total * 2"})).start(total=5, amount=1, note="n")

    (job,) = engine.activate("charge")

    assert job.variables == {"total": "5", "amount": "10", "note": '"n"'}


def test_a_worker_gets_only_the_variables_it_asks_for(engine: Scenario) -> None:
    engine.deploy(charge()).start(total=5, note="n")

    answer = engine.execute(activation(fetch_variables=("total", "unknown")))

    assert [job.variables for job in answer.jobs] == [{"total": "5"}]  # type: ignore[union-attr]


@pytest.mark.parametrize("letter", ["a", "é", "界"])
def test_an_answer_holds_as_many_jobs_as_fit(engine: Scenario, letter: str) -> None:
    engine.deploy(charge())
    half = letter * (MAX_ANSWER_OCTETS * 2 // 5 // len(letter.encode()))
    for _ in range(3):
        engine.start(text=half)

    first, second = engine.activate("charge"), engine.activate("charge")

    assert [len(first), len(second)] == [2, 1]


def test_a_job_that_is_larger_than_an_answer_goes_alone(engine: Scenario) -> None:
    engine.deploy(charge())
    for _ in range(2):
        engine.start(text="a" * (MAX_ANSWER_OCTETS + 1))

    assert [len(engine.activate("charge")) for _ in range(3)] == [1, 1, 0]


def test_an_activation_with_a_size_of_its_own_takes_what_fits_and_may_take_nothing(engine: Scenario) -> None:
    engine.deploy(charge())
    for _ in range(3):
        engine.start(text="a" * 98)

    assert [len(activated(engine, max_octets=most)) for most in (99, 299, 99, 100)] == [0, 2, 0, 1]


def activated(engine: Scenario, max_octets: int) -> tuple[ActivatedJob, ...]:
    return cast("ActivatedJobs", engine.execute(activation(max_octets=max_octets))).jobs


# Yield


def test_a_yielded_job_is_offered_again(engine: Scenario) -> None:
    engine.deploy(charge()).start()
    (job,) = engine.activate("charge")

    engine.execute(YieldJobs("default", ((job.key, job.deadline),)))

    assert engine.last_events == [JobYielded(engine.instance.head, job.key)]
    assert [job.key] == [again.key for again in engine.activate("charge")]


def test_yielding_what_is_gone_or_of_another_tenant_does_nothing(engine: Scenario) -> None:
    engine.deploy(charge()).start()
    (job,) = engine.activate("charge")

    engine.execute(YieldJobs("other", ((job.key, job.deadline),)))
    engine.execute(YieldJobs("default", ((job.instance.key, job.deadline),)))

    assert engine.job("charge").state is JobState.ACTIVATED


def test_yielding_leaves_alone_what_another_worker_got_in_the_meantime(engine: Scenario) -> None:
    engine.deploy(charge()).start()
    (lost,) = engine.activate("charge", timeout=timedelta(seconds=1))
    engine.advance(timedelta(seconds=1))
    (kept,) = engine.activate("charge", timeout=MINUTE)

    engine.execute(YieldJobs("default", ((lost.key, lost.deadline),)))

    assert engine.last_events == []
    assert (engine.job("charge").state, engine.job("charge").due) == (JobState.ACTIVATED, kept.deadline)
