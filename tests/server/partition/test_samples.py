"""Metrics of rows that wait in the database."""

from server.partition.instruments import Instruments
from server.partition.samples import Samples
from server.platform.metrics import Metrics
from server.store.ports import PartitionId
from server.store.postgres.backlog import Backlog, Outbox
from server.store.postgres.ledger import FailedCommit

ONE, TWO = PartitionId(1), PartitionId(2)


class Watch:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.time = 100.0

    def __call__(self) -> float:
        return self.time


def reported(metrics: Metrics) -> dict[str, float]:
    lines = metrics.exposition("")[0]().decode().splitlines()
    return {
        name: float(value) for name, _, value in (line.rpartition(" ") for line in lines if line[0] != "#")
    }


def test_the_lag_of_an_outbox_is_the_age_of_its_oldest_command() -> None:
    metrics, clock = Metrics(), Watch()
    samples = Samples(metrics, clock=clock)
    leases = {ONE: 10.0, TWO: 10.0}
    samples.take(Backlog(leases, (Outbox(ONE, TWO, 7, 3),)))
    clock.time += 15
    samples.take(Backlog(leases, (Outbox(ONE, TWO, 7, 5),)))
    clock.time += 1

    found = reported(metrics)

    assert found['gnomon_outbox_lag_seconds{partition="1"}'] == 16
    assert found['gnomon_outbox_commands{partition="1"}'] == 5
    assert found['gnomon_outbox_lag_seconds{partition="2"}'] == 0
    assert found['gnomon_outbox_commands{partition="2"}'] == 0


def test_an_outbox_that_moves_on_has_no_lag() -> None:
    metrics, clock = Metrics(), Watch()
    samples = Samples(metrics, clock=clock)
    samples.take(Backlog({ONE: 10.0}, (Outbox(ONE, TWO, 7, 3),)))
    clock.time += 15

    samples.take(Backlog({ONE: 10.0}, (Outbox(ONE, TWO, 9, 3),)))

    assert reported(metrics)['gnomon_outbox_lag_seconds{partition="1"}'] == 0


async def test_a_lease_that_is_not_counted_any_more_runs_out() -> None:
    metrics, clock = Metrics(), Watch()
    samples = Samples(metrics, clock=clock)
    samples.take(Backlog({ONE: 10.0}))
    clock.time += 12

    assert reported(metrics)['gnomon_lease_seconds{partition="1"}'] == -2


def test_tasks_of_the_retry_queue_are_reported_by_their_queue() -> None:
    metrics = Metrics()
    Samples(metrics, clock=Watch()).take(Backlog(retries={"queued_letter": 4}))

    assert reported(metrics)['gnomon_retry_queue_tasks{queue="queued_letter"}'] == 4


def test_outages_and_commits_that_are_too_large_are_counted_apart() -> None:
    metrics = Metrics()
    meter = Instruments(metrics, max_tenants=1)

    for cause in (FailedCommit.OUTAGE, FailedCommit.OUTAGE, FailedCommit.TOO_LARGE):
        meter.commit_failed(cause)
    meter.move_failed()

    found = reported(metrics)
    assert found['gnomon_commit_failures_total{cause="outage"}'] == 2
    assert found['gnomon_commit_failures_total{cause="too_large"}'] == 1
    assert found["gnomon_unmoved_instances_total"] == 1
