"""Short campaigns; `make crash cluster failover neighbour removal storm` runs long ones."""

from tests.campaigns import cluster, crash, neighbour, removal, storm
from tests.campaigns.attacks import ATTACKS
from tests.campaigns.book import Book
from tests.campaigns.report import Report

SEED = "short"
# Far above every measurement: that nobody waits for good, not how long it takes.
LONGEST_MILLISECONDS = 30_000


async def test_killed_processes_and_a_killed_database_lose_nothing_and_double_nothing() -> None:
    report = await crash.run(1, SEED)

    assert report.violations == []


async def test_an_owner_that_slept_past_its_lease_commits_nothing() -> None:
    report = await cluster.run(1, SEED)

    assert report.violations == []


async def test_a_command_sent_three_times_over_broken_connections_has_its_effect_once() -> None:
    report = await storm.run(1, SEED, commands=150)

    assert report.violations == []


async def test_removed_tenants_clients_and_users_leave_nothing_when_the_database_dies_meanwhile() -> None:
    report = await removal.run(1, SEED, second_passes=False)

    assert report.violations == []


async def test_a_hostile_tenant_costs_another_one_no_completion_and_no_lease() -> None:
    report = Report("neighbour", SEED, Book())

    outcome = await neighbour.outcome_of(report, neighbour.BOUNDED, tuple(ATTACKS), idle_seconds=2)

    assert outcome.idle.failures + outcome.attacked.failures == []
    assert outcome.leases_lost == 0
    assert outcome.mebibytes < neighbour.CLAIM_MEBIBYTES
    assert outcome.attempts.keys() == ATTACKS.keys()
    assert outcome.attacked.milliseconds
    assert max(outcome.attacked.milliseconds) < LONGEST_MILLISECONDS
