"""Global task listeners in a deployment of two partitions: both know them, and those that begin afterwards."""

from server.engine import global_task_listener_commands
from server.engine.job_kinds import ListenerEventType
from tests.server.partition.durable import deployment
from tests.server.partition.test_deletion import found
from tests.server.partition.test_start_events import Pair, opened


def asked(both: Pair) -> list[list[str]]:
    """The job types that each partition asks when a user task of the default tenant is created."""
    return [
        [
            listener.type
            for listener in each.partition.state.global_task_listeners.asked(
                "default", ListenerEventType.CREATING
            )
        ]
        for each in (both.first, both.second)
    ]


CHANGES = (
    global_task_listener_commands.CreateGlobalTaskListener("default", "a", "old", ("all",)),
    global_task_listener_commands.UpdateGlobalTaskListener(
        "default", "a", "new", ("creating",), after_non_global=True
    ),
    global_task_listener_commands.CreateGlobalTaskListener("default", "b", "gone", ("all",)),
    global_task_listener_commands.DeleteGlobalTaskListener("default", "b"),
    global_task_listener_commands.CreateGlobalTaskListener("default", "c", "back", ("all",)),
    global_task_listener_commands.DeleteGlobalTaskListener("default", "c"),
    global_task_listener_commands.CreateGlobalTaskListener("default", "c", "again", ("all",)),
    global_task_listener_commands.CreateGlobalTaskListener("other", "a", "theirs", ("all",)),
)


async def test_changes_reach_every_partition_and_outlive_them(durable_dsn: str) -> None:
    async with deployment(durable_dsn, 2) as deployed:
        async with opened(deployed) as both:
            for command in CHANGES:
                await both.first.submit(command)
            await both.catch_up()
            after = asked(both)
        async with opened(deployed) as both:
            again = asked(both)
            await both.first.submit(global_task_listener_commands.DeleteGlobalTaskListener("default", "a"))
            await both.catch_up()
            without = asked(both)
        rows = await deployed.pool.fetch("SELECT tenant_id, id, type FROM gnomon.global_task_listener")

    assert after == again == [["again", "new"]] * 2
    assert without == [["again"]] * 2
    assert {tuple(row) for row in rows} == {("default", "c", "again"), ("other", "a", "theirs")}
    assert await found(durable_dsn) == {}


async def test_a_partition_that_was_away_knows_the_listeners_when_it_comes(durable_dsn: str) -> None:
    async with deployment(durable_dsn, 2) as deployed:
        async with deployed.open(1) as first:
            for command in CHANGES:
                await first.submit(command)
        async with opened(deployed) as both:
            at_once = asked(both)
            await both.catch_up()
            after = asked(both)

    assert at_once == after == [["again", "new"]] * 2
