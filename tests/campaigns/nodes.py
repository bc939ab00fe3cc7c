"""A cluster on one machine: nodes and edges as processes, each node behind proxies that can cut it off."""

import asyncio
import signal
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from tests.campaigns.ports import kept_port
from tests.campaigns.programs import ROOT, Program
from tests.campaigns.proxy import HOST, Open, Proxy, proxied, to_port

Settings = Mapping[str, str]

LEASE_SECONDS = 3.0
SECRET = "shared in a campaign"  # of a cluster that lives for a minute
# Settings that programs of an earlier version may refuse, and the definitions of those that know them.
NEW_SETTINGS = {"GNOMON_EDGE__SECRET": (Path("edge", "config.py"), "secret: str")}


class Proxies(NamedTuple):
    """Of one node: how callers, the other nodes and itself reach what is behind."""

    grpc: Proxy
    others: Proxy
    database: Proxy


class Node:
    """A process that owns partitions; it comes back under its name and at its addresses.

    It runs the sources in `root`, with the settings `of_root` on top of its own.
    """

    def __init__(
        self, number: int, proxies: Proxies, settings: Settings, log: Path, *, root: Path = ROOT
    ) -> None:
        self.name = f"node-{number}"
        self.root = root
        self.of_root: Settings = {}
        self._proxies = proxies
        self._settings = {**settings, "GNOMON_CLUSTER__NODE_ID": self.name}
        self.log = log
        self._program: Program | None = None

    @property
    def http(self) -> str:
        """Its own edge, past the proxies."""
        return self._running.addresses.http

    async def start(self) -> None:
        settings = {**_known_to(self.root, self._settings), **self.of_root}
        self._program = await Program.started("cluster", settings, self.log, root=self.root)

    async def stop(self) -> None:
        if self._program is not None:
            self.mend()
            await self._program.stop()

    async def kill(self) -> None:
        await self._running.kill()

    def pause(self) -> None:
        self._running.send(signal.SIGSTOP)

    def wake(self) -> None:
        self._running.send(signal.SIGCONT)

    def cut(self) -> None:
        """From the database, from the other nodes and from the edges."""
        for proxy in self._proxies:
            proxy.cut()

    def cut_from_database(self) -> None:
        self._proxies.database.cut()

    def mend(self) -> None:
        for proxy in self._proxies:
            proxy.mend()

    @property
    def _running(self) -> Program:
        assert self._program is not None
        return self._program


class Cluster:
    def __init__(self, nodes: Sequence[Node], edges: Sequence[str]) -> None:
        self.nodes = nodes
        self.edges = edges

    def node(self, name: str) -> Node:
        return next(node for node in self.nodes if node.name == name)


@asynccontextmanager
async def cluster(
    database: Open,
    dsn_through: Callable[[Proxy], str],
    *,
    logs: Path,
    keys: Path,
    partitions: int,
    nodes: int,
    edges: int,
    root: Path = ROOT,
    more: Settings = MappingProxyType({}),
) -> AsyncIterator[Cluster]:
    """`dsn_through` gives the DSN by which a node reaches the database through a proxy; nodes have `more` settings.

    All begin with the sources in `root`, but for the first edge, which is of today.
    """
    shared = {
        "GNOMON_CLUSTER__SECRET": SECRET,
        "GNOMON_EDGE__SECRET": SECRET,
        "GNOMON_CLUSTER__PARTITIONS": str(partitions),
        "GNOMON_CLUSTER__LEASE_SECONDS": str(LEASE_SECONDS),
        "GNOMON_ENCRYPTION__KEY_FILE": str(keys),
        "GNOMON_IDENTITY__PUBLIC_URL": "campaign.test",
        "GNOMON_IDENTITY__SCHEME": "http",
        "GNOMON_EDGE__PORT": "0",
        **more,
    }
    async with AsyncExitStack() as stack:
        members: list[Node] = []
        services: list[str] = []
        for number in range(1, nodes + 1):
            grpc, others = kept_port("localhost"), kept_port(HOST)
            to_grpc = await stack.enter_async_context(proxied(to_port(grpc)))
            to_others = await stack.enter_async_context(proxied(to_port(others)))
            to_database = await stack.enter_async_context(proxied(database))
            settings = {
                **shared,
                "GNOMON_DATABASE__DSN": dsn_through(to_database),
                "GNOMON_GRPC__PORT": str(grpc),
                "GNOMON_CLUSTER__PORT": str(others),
                "GNOMON_CLUSTER__ADDRESS": to_others.address,
            }
            proxies = Proxies(to_grpc, to_others, to_database)
            node = Node(number, proxies, settings, logs / f"node-{number}.log", root=root)
            members.append(node)
            services.append(to_grpc.address)
            stack.push_async_callback(node.stop)
        settings = {
            "GNOMON_EDGE__SERVICES": ",".join(services),
            "GNOMON_EDGE__SECRET": SECRET,
            "GNOMON_EDGE__PORT": "0",
        }
        edge_roots = {
            logs / f"edge-{number}.log": root if number > 1 else ROOT for number in range(1, edges + 1)
        }
        started = await asyncio.gather(
            *(
                Program.started("cluster", _known_to(each, settings), log, root=each)
                for log, each in edge_roots.items()
            ),
            *(node.start() for node in members),
        )
        programs = [each for each in started if isinstance(each, Program)]
        for edge in programs:
            stack.push_async_callback(edge.stop)
        yield Cluster(members, [edge.addresses.http for edge in programs])


def _known_to(root: Path, settings: Settings) -> Settings:
    """Leave out the settings that the version with these sources does not know."""
    unknown = {
        name
        for name, (file, definition) in NEW_SETTINGS.items()
        if definition not in (root / file).read_text()
    }
    return {name: value for name, value in settings.items() if name not in unknown}
