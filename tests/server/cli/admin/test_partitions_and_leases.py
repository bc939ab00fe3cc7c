import asyncio
from contextlib import AsyncExitStack

import pytest

from server.platform.postgres.pool import open_pool
from server.platform.postgres.pooled import PooledDatabase
from server.store.ports import LeaseLost
from server.store.postgres.leases import Leases
from tests.durable import NODE
from tests.server.cli.admin.conftest import Operator
from tests.server.store.postgres.deployment import owner


def test_partitions_are_listed_with_what_they_hold(operator: Operator) -> None:
    first, second = operator("partitions", "--json").json["items"]

    assert (first["partitionId"], first["queued"], first["isLive"]) == (1, 0, False)
    assert (second["partitionId"], second["queued"], second["owner"]) == (2, 1, None)
    assert first["activeInstances"] == second["activeInstances"] > 0


def test_a_person_sees_a_table(operator: Operator) -> None:
    heading, *rows = operator("partitions").output.splitlines()

    assert heading.split()[:3] == ["Partition", "Owner", "Address"]
    assert [row.split()[0] for row in rows] == ["1", "2"]


def test_partitions_become_more_and_change_nothing_else(operator: Operator) -> None:
    before = operator("partitions", "--json").json["items"]

    grown = operator("partitions", "grow", "5", "--json").json["items"]

    assert grown[:2] == before
    assert [each["partitionId"] for each in grown] == [1, 2, 3, 4, 5]
    assert operator("verify").exit_code == 0


def test_partitions_never_become_fewer(operator: Operator) -> None:
    ended = operator("partitions", "grow", "1")

    assert (ended.exit_code, ended.output) == (1, "")
    assert "there are 2 partitions" in ended.errors
    assert len(operator("partitions", "--json").json["items"]) == 2


async def test_leases_are_listed_with_the_nodes_that_hold_them(operator: Operator) -> None:
    async with open_pool(operator.dsn, 2) as pool, owner(operator.dsn, pool, 2):
        await Leases(PooledDatabase(pool)).beat(NODE, "10.0.0.7:26502", seconds=60)

        listed = (await asyncio.to_thread(operator, "leases", "--json")).json
        shown = (await asyncio.to_thread(operator, "leases")).output

    (node,) = listed["nodes"]
    assert (node["nodeId"], node["address"], node["isLive"]) == (NODE, "10.0.0.7:26502", True)
    assert node["partitions"] == [2]
    assert [lease["owner"] for lease in listed["leases"]] == [None, NODE]
    assert "10.0.0.7:26502" in shown


async def test_an_owner_whose_partition_was_released_commits_nothing_more(operator: Operator) -> None:
    async with open_pool(operator.dsn, 2) as pool, AsyncExitStack() as stack:
        former = await stack.enter_async_context(owner(operator.dsn, pool, 1))
        await former.start()

        released = (await asyncio.to_thread(operator, "leases", "release", "1", "--json")).json
        with pytest.raises(LeaseLost):
            await former.start()
        async with owner(operator.dsn, pool, 1) as next_one:
            await next_one.start()
        verified = await asyncio.to_thread(operator, "verify")

    assert [lease["isLive"] for lease in released["leases"]] == [False, False]
    assert verified.exit_code == 0, verified.output


def test_a_partition_that_is_not_there_cannot_be_released(operator: Operator) -> None:
    ended = operator("leases", "release", "9")

    assert (ended.exit_code, ended.output) == (1, "")
    assert "no partition 9" in ended.errors
