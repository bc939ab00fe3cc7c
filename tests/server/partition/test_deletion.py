"""Deletion in a deployment of two partitions: both know it, and those that begin afterwards."""

from collections import Counter
from datetime import timedelta

import asyncpg

from server.engine import deployment_commands, signal_commands
from server.partition.turn import definition_of
from server.partition.wire import ANSWERS, COMMANDS
from server.store.postgres.verify import Formats, verify
from tests.server.engine.form_files import form
from tests.server.engine.graphs import answering, graph
from tests.server.engine.resource_files import rpa
from tests.server.partition.durable import deployment
from tests.server.partition.test_start_events import BY_SIGNAL, NEXT_BY_SIGNAL, Pair, opened

FORMATS = Formats(definition=definition_of, answer=ANSWERS.unpack, command=COMMANDS.unpack)
BROADCAST = signal_commands.BroadcastSignal("default", "alarm")


async def delete_latest(both: Pair) -> None:
    state = both.first.partition.state
    latest = state.latest("default", "order")
    price = state.decisions.latest("default", "price")
    assert latest is not None
    assert price is not None
    address = state.forms.latest("default", "address")
    robot = state.generic_resources.latest("default", "robot")
    assert address is not None
    assert robot is not None
    for key in (latest.key, price.graph.key, address.key, robot.key):
        await both.first.submit(deployment_commands.DeleteResource("default", key))
    await both.catch_up()


async def test_a_deletion_reaches_every_partition_and_outlives_them(durable_dsn: str) -> None:
    async with deployment(durable_dsn, 2) as deployed:
        async with opened(deployed) as both:
            await both.deploy(BY_SIGNAL)
            await both.deploy(NEXT_BY_SIGNAL)
            await both.second.submit(BROADCAST)
            for result in ("1", "2"):
                model = graph(answering("price", result))
                await both.first.submit(
                    deployment_commands.DeployResources(
                        "default", (), (model,), (form(title=result),), (rpa(script=result),)
                    )
                )
            await delete_latest(both)
            await both.second.submit(BROADCAST)
            before = both.running
        async with opened(deployed) as both:
            await both.second.submit(BROADCAST)
            after = both.running
            prices = [
                each.partition.state.decisions.latest("default", "price")
                for each in (both.first, both.second)
            ]
            addresses = [
                each.partition.state.forms.latest("default", "address") for each in (both.first, both.second)
            ]
            robots = [
                each.partition.state.generic_resources.latest("default", "robot")
                for each in (both.first, both.second)
            ]
            again = await both.first.submit(deployment_commands.DeployResources("default", (NEXT_BY_SIGNAL,)))
            await both.catch_up()
            verdicts = await found(durable_dsn)

    assert before == [Counter(), Counter([2, 1])]
    assert after == [Counter(), Counter([2, 1, 1])]
    assert [price and price.deployed.version for price in prices] == [1, 1]
    assert [address and address.version for address in addresses] == [1, 1]
    assert [robot and robot.version for robot in robots] == [1, 1]
    assert [each.version for each in again.definitions] == [3]  # type: ignore[union-attr]  # of a deployment
    assert verdicts == {}


async def found(dsn: str) -> dict[str, list[str]]:
    connection = await asyncpg.connect(dsn)
    try:
        verdicts = await verify(connection, FORMATS, patience=timedelta())
    finally:
        await connection.close()
    return {verdict.check.name: verdict.findings.examples for verdict in verdicts if verdict.findings.count}
