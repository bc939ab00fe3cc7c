"""Cluster variables in a deployment of two partitions: both know them, and those that begin afterwards."""

from copy import deepcopy

from server.bpmn.builder import process
from server.engine import cluster_variable_commands, process_instance_commands
from server.engine.cluster_variables import Context
from tests.server.engine.scenario import resource
from tests.server.partition.durable import deployment
from tests.server.partition.test_deletion import found
from tests.server.partition.test_start_events import Pair, opened


def seen(both: Pair) -> list[Context]:
    """What expressions of the default tenant see in each partition."""
    return [
        deepcopy(each.partition.state.cluster_variables.context("default"))
        for each in (both.first, both.second)
    ]


def context(cluster: Context, tenant: Context) -> Context:
    return {"vars": {"cluster": cluster, "tenant": tenant, "env": {**cluster, **tenant}}}


async def change(both: Pair) -> None:
    for command in (
        cluster_variable_commands.CreateClusterVariable("default", "rate", "1", is_global=True),
        cluster_variable_commands.CreateClusterVariable("default", "rate", "[2]"),
        cluster_variable_commands.CreateClusterVariable("default", "gone", "1"),
        cluster_variable_commands.UpdateClusterVariable("default", "rate", "[3]"),
        cluster_variable_commands.DeleteClusterVariable("default", "gone"),
        cluster_variable_commands.CreateClusterVariable("default", "back", "1"),
        cluster_variable_commands.DeleteClusterVariable("default", "back"),
        cluster_variable_commands.CreateClusterVariable("default", "back", "2"),
        cluster_variable_commands.CreateClusterVariable("other", "rate", "4"),
    ):
        await both.first.submit(command)


async def test_changes_reach_every_partition_and_outlive_them(durable_dsn: str) -> None:
    expected = context({"rate": 1}, {"rate": [3], "back": 2})
    async with deployment(durable_dsn, 2) as deployed:
        async with opened(deployed) as both:
            await change(both)
            await both.catch_up()
            after = seen(both)
        async with opened(deployed) as both:
            again = seen(both)
            await both.first.submit(cluster_variable_commands.DeleteClusterVariable("default", "rate"))
            await both.catch_up()
            without = seen(both)
        rows = await deployed.pool.fetch("SELECT tenant_id, name, value FROM gnomon.cluster_variable")

    assert after == again == [expected, expected]
    assert without == [context({"rate": 1}, {"back": 2})] * 2
    assert {tuple(row) for row in rows} == {
        (None, "rate", "1"),
        ("default", "back", "2"),
        ("other", "rate", "4"),
    }
    assert await found(durable_dsn) == {}


async def test_a_partition_that_was_away_knows_the_variables_when_it_comes(durable_dsn: str) -> None:
    async with deployment(durable_dsn, 2) as deployed:
        async with deployed.open(1) as first:
            for command in (
                cluster_variable_commands.CreateClusterVariable("default", "rate", "1"),
                cluster_variable_commands.UpdateClusterVariable("default", "rate", "2"),
                cluster_variable_commands.CreateClusterVariable("default", "gone", "1"),
                cluster_variable_commands.DeleteClusterVariable("default", "gone"),
            ):
                await first.submit(command)
        async with opened(deployed) as both:
            at_once = seen(both)
            await both.catch_up()
            after = seen(both)

    assert at_once == after == [context({}, {"rate": 2})] * 2


async def test_a_change_meets_conditions_in_every_partition(durable_dsn: str) -> None:
    waiting = process("order").condition_catch("wait", condition="=camunda.vars.env.rate > 5").end()
    async with deployment(durable_dsn, 2) as deployed:
        async with opened(deployed) as both:
            await both.deploy(resource(waiting))
            for partition in (both.first, both.second):
                await partition.submit(
                    process_instance_commands.CreateProcessInstance(
                        tenant_id="default", process_definition_id="order"
                    )
                )
            before = [sum(each.values()) for each in both.running]
        # The index of the conditions comes back with the documents.
        async with opened(deployed) as both:
            await both.first.submit(cluster_variable_commands.CreateClusterVariable("default", "rate", "9"))
            await both.catch_up()
            after = [sum(each.values()) for each in both.running]

    assert before == [1, 1]
    assert after == [0, 0]
