"""Short campaigns; `make crash cluster failover storm` runs long ones."""

from tests.campaigns import cluster, crash, storm

SEED = "short"


async def test_killed_processes_and_a_killed_database_lose_nothing_and_double_nothing() -> None:
    report = await crash.run(1, SEED)

    assert report.violations == []


async def test_an_owner_that_slept_past_its_lease_commits_nothing() -> None:
    report = await cluster.run(1, SEED)

    assert report.violations == []


async def test_a_command_sent_three_times_over_broken_connections_has_its_effect_once() -> None:
    report = await storm.run(1, SEED, commands=150)

    assert report.violations == []
