"""Engines of both modes, each with the clock that its partitions go by."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from server.app import DurableEngine, Engine, create_embedded_engine, durable_engine
from server.config import EngineConfig
from server.partition.config import BatchesConfig, ClusterConfig, InstancesConfig
from server.partition.partition import Partition
from server.platform.clock import VirtualClock
from server.platform.policy import Mode
from server.platform.postgres.config import DatabaseConfig
from server.platform.sockets import free_port
from tests.durable import emptied
from tests.waits import PATIENCE_SECONDS, until

UNIX_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MILLISECOND = timedelta(milliseconds=1)
HOST = "127.0.0.1"
INSTANCES = InstancesConfig(await_completion_seconds=10)
DEFAULT_BATCHES = BatchesConfig()


@dataclass(frozen=True)
class Time:
    """Moves the clock, and returns when everything that is due by then has happened."""

    clock: VirtualClock
    partitions: Sequence[Partition]

    async def pin(self, milliseconds: int) -> None:
        self.clock.pin(UNIX_EPOCH + milliseconds * MILLISECOND)
        for partition in self.partitions:
            partition.clock_moved()
            await partition.settle()


@dataclass(frozen=True)
class Running:
    """An engine that serves."""

    mode: Mode
    engine: Engine
    time: Time


@asynccontextmanager
async def embedded(batches: BatchesConfig = DEFAULT_BATCHES) -> AsyncIterator[Running]:
    engine = create_embedded_engine(EngineConfig(instances=INSTANCES, batches=batches))
    async with _running(engine):
        yield Running(Mode.EMBEDDED, engine, Time(engine.clock, (engine.partition,)))


@asynccontextmanager
async def bundled(dsn: str, partitions: int) -> AsyncIterator[Running]:
    """Over a database that is emptied for it."""
    async with emptied(dsn, partitions=partitions, connections=1):
        pass
    config = EngineConfig(
        instances=INSTANCES,
        cluster=ClusterConfig(host=HOST, port=free_port(HOST), secret="secret"),
        database=DatabaseConfig(dsn=dsn, pool_connections=4),
    )
    clock = VirtualClock()
    async with durable_engine(config, clock) as engine, _running(engine):
        owned = await _owned(engine)
        assert len(owned) == partitions
        yield Running(Mode.BUNDLED, engine, Time(clock, owned))


@asynccontextmanager
async def _running(engine: Engine) -> AsyncIterator[None]:
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(engine.run())
        await engine.ready()
        yield
        engine.drain()
        engine.stop()
        async with asyncio.timeout(PATIENCE_SECONDS):
            await running


async def _owned(engine: DurableEngine) -> Sequence[Partition]:
    """All partitions, as soon as they take commands."""
    found = [engine.node.find_local(partition_id).partition for partition_id in engine.node.ids]
    await until(lambda: all(partition.is_open for partition in found))
    return found
