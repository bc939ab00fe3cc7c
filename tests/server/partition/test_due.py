from datetime import timedelta

from server.bpmn.builder import process
from server.engine.events import JobActivated, JobCompleted
from server.engine.job_commands import EndJobBackOff, FailJob, TimeOutJob, UpdateJob
from server.engine.keys import Key
from server.partition.due import OVERTAKEN, Due
from tests.server.engine.scenario import MINUTE, Scenario


def observed(engine: Scenario) -> Due:
    due = Due()
    due.observe(engine.events)
    return due


def busy(instances: int = 1) -> Scenario:
    engine = Scenario().deploy(process("order").service_task("a", type="a").end())
    for _ in range(instances):
        engine.start()
    return engine


def test_a_deadline_comes_when_it_is_due() -> None:
    engine = busy()
    (job,) = engine.activate("a", timeout=MINUTE)

    due = observed(engine)

    assert due.next == job.deadline
    assert not due.has_come(job.deadline - timedelta(milliseconds=1))
    assert list(due.take(job.deadline, 10)) == [TimeOutJob("default", job.key, job.deadline)]
    assert due.next is None


def test_what_is_due_first_comes_first_and_no_more_than_asked_for() -> None:
    engine = busy(instances=4)
    deadlines = [
        engine.activate("a", most=1, timeout=minutes * MINUTE)[0].deadline for minutes in (3, 1, 2, 9)
    ]

    due = observed(engine)

    now = engine.now + 5 * MINUTE
    assert [command.deadline for command in due.take(now, 2) if isinstance(command, TimeOutJob)] == [
        deadlines[1],
        deadlines[2],
    ]
    assert [command.deadline for command in due.take(now, 2) if isinstance(command, TimeOutJob)] == [
        deadlines[0]
    ]
    assert due.next == deadlines[3]


def test_what_was_overtaken_does_not_come() -> None:
    engine = busy(instances=3)
    first, second, third = (engine.activate("a", most=1, timeout=MINUTE)[0] for _ in range(3))
    engine.execute(UpdateJob(tenant_id="default", job_key=first.key, timeout=3 * MINUTE))
    failure = FailJob(tenant_id="default", job_key=second.key, retries=1, retry_back_off=2 * MINUTE)
    engine.execute(failure)
    engine.execute(FailJob(tenant_id="default", job_key=third.key, retries=1))

    due = observed(engine)

    assert list(due.take(engine.now + 10 * MINUTE, 10)) == [
        EndJobBackOff("default", second.key, engine.now + 2 * MINUTE),
        TimeOutJob("default", first.key, engine.now + 3 * MINUTE),
    ]


def test_jobs_that_are_done_leave_nothing_behind() -> None:
    engine, due = busy(), Due()
    (job,) = engine.activate("a")
    head = engine.instance.head

    for number in range(3 * OVERTAKEN):
        key = Key(job.key + number)
        due.observe([JobActivated(head, key, "w", job.deadline), JobCompleted(head, key)])

    assert len(due) <= OVERTAKEN + 1
    assert list(due.take(job.deadline, 10)) == []


def test_a_job_that_is_due_again_and_again_is_due_once() -> None:
    engine = busy()
    (job,) = engine.activate("a", timeout=MINUTE)
    due = observed(engine)
    for minutes in range(2, 3 * OVERTAKEN):
        event = JobActivated(engine.instance.head, job.key, "w", engine.now + minutes * MINUTE)
        due.observe([event])

    assert len(due) <= OVERTAKEN + 2
    assert len(list(due.take(engine.now + 10 * OVERTAKEN * MINUTE, 10))) == 1
