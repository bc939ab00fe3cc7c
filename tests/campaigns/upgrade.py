"""Nodes of an earlier version are replaced by those of today one by one under load, and back; nothing is lost."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import asyncpg

from server.engine.formats import LATEST, OLDEST
from tests.campaigns.book import Book
from tests.campaigns.checks import counted, verified
from tests.campaigns.cluster import EDGES, NODES, PARTITIONS, Campaign, through
from tests.campaigns.dice import Dice
from tests.campaigns.earlier import earlier_sources
from tests.campaigns.http_api import connected
from tests.campaigns.load import deploy, under_load
from tests.campaigns.model import JOBS
from tests.campaigns.nodes import LEASE_SECONDS, Node, Settings, cluster
from tests.campaigns.programs import ROOT, NotStarted
from tests.campaigns.proxy import to_socket
from tests.campaigns.report import Report, Round
from tests.campaigns.sign_in import token_of
from tests.postgres import open_directory, postgres_server

FEWEST_BEFORE, MOST_BEFORE = 50, 200
RESUME_SECONDS = 60.0
# A partition that nobody serves for longer is a violation: a lease, a take-over and a recovery on a busy machine.
BOUND_SECONDS = 5 * LEASE_SECONDS
NEWER = b"the database is newer than the program"


# In the sources of versions that know of formats, and so of versions after them.
FORMATS = Path("server", "engine", "formats.py")


async def run(rounds: int, seed: str) -> Report:
    """Go to today's version and back in turns; at last stay with it, and see that the earlier one is refused.

    A version without formats refuses tables that are newer than it is: from that one each round goes to today's in a
    deployment of its own.
    """
    report, dice = Report("upgrade", seed, Book(), goal=2 * LEASE_SECONDS), Dice(seed)
    with earlier_sources() as earlier:
        if not (earlier / FORMATS).exists():
            await report.collect(rounds, lambda number: _there(report, dice, earlier, number))
            return report
        async with _deployed(report, earlier) as campaign:
            await report.collect(rounds, lambda number: campaign.replace_all(number, dice, earlier))
            if not report.violations:
                await report.collect(1, lambda _: campaign.stay(dice, earlier))
    return report


async def _there(report: Report, dice: Dice, earlier: Path, number: int) -> Round:
    """Half of the rounds end nodes by the signal, half by a kill; then the format rises."""
    report.book = Book()
    async with _deployed(report, earlier) as campaign:
        there = await campaign.replace_all(2 * number, dice, earlier)
        stayed = await campaign.stay(dice, earlier)
    longest = max(there.seconds, stayed.seconds)
    return Round(f"{there.strike}, format raised", longest, [*there.violations, *stayed.violations])


@asynccontextmanager
async def _deployed(report: Report, earlier: Path) -> AsyncIterator["Upgrade"]:
    """A deployment of the earlier version, with a database of its own."""
    with postgres_server() as dsn, open_directory() as directory:
        socket = Path(parse_qs(urlsplit(dsn).query)["host"][0]) / ".s.PGSQL.5432"
        async with (
            asyncpg.create_pool(dsn, min_size=1, max_size=2) as pool,
            cluster(
                to_socket(str(socket)),
                lambda proxy: through(dsn, proxy),
                logs=report.logs,
                keys=directory / "master-keys",
                partitions=PARTITIONS,
                nodes=NODES,
                edges=EDGES,
                root=earlier,
            ) as deployment,
            connected(deployment.edges, await token_of(deployment.edges[0])) as api,
        ):
            await deploy(api, (JOBS,))
            upgrade = Upgrade(deployment, api, report.book, dsn=dsn, pool=pool)
            upgrade.earlier_format = await upgrade.cluster_format()
            yield upgrade


class Upgrade(Campaign):
    """The deployment whose nodes are replaced.

    The earlier version can come back only while the deployment writes its format, so today's nodes hold that one.
    """

    earlier_format = OLDEST

    async def replace_all(self, number: int, dice: Dice, earlier: Path) -> Round:
        """Replace every node: rounds go there and back, each twice by the signal that ends it and twice by a kill."""
        is_forward, is_killed = number % 2 == 0, number % 4 >= 2
        root, settings = (ROOT, self._held_back()) if is_forward else (earlier, {})
        found: list[str] = []
        longest = 0.0
        async with under_load(self.api, self.book, str(number)):
            for node in dice.shuffled(self.deployment.nodes):
                await self.book.more(dice.between(FEWEST_BEFORE, MOST_BEFORE))
                seconds = await self._replace(node, root, settings, is_killed=is_killed)
                longest = max(longest, seconds)
                found += await verified(self.dsn)
            if await self.cluster_format() != self.earlier_format:
                found.append("the cluster format rose although the nodes hold it back")
        name = f"{'to today' if is_forward else 'back'}, {'killed' if is_killed else 'stopped'}"
        return await self._counted(name, longest, found)

    async def stay(self, dice: Dice, earlier: Path) -> Round:
        """Let the format rise, which every node has at last; the earlier version does not start any more."""
        found: list[str] = []
        longest = 0.0
        async with under_load(self.api, self.book, "last"):
            for node in dice.shuffled(self.deployment.nodes):
                seconds = await self._replace(node, ROOT, {}, is_killed=False)
                longest = max(longest, seconds)
            if await self.cluster_format() != LATEST:
                found.append(f"the cluster format is {await self.cluster_format()}, not {LATEST}")
            if self.earlier_format < LATEST and not await self._is_refused(earlier):
                found.append("the earlier version starts on data that it cannot read")
        return await self._counted("format raised", longest, found)

    async def _replace(self, node: Node, root: Path, settings: Settings, *, is_killed: bool) -> float:
        """How long a partition of the node was not served."""
        await self.balanced()
        owned = await self.epochs(node)
        begun = asyncio.get_running_loop().time()
        await (node.kill() if is_killed else node.stop())
        async with asyncio.timeout(RESUME_SECONDS):
            seconds = max([await self.book.resumed(partition_id, begun) for partition_id in owned])
        node.root, node.of_root = root, settings
        await node.start()
        await self.balanced()
        return seconds

    async def _counted(self, name: str, longest: float, found: list[str]) -> Round:
        if longest > BOUND_SECONDS:
            found.append(f"a partition was away for {longest:.1f} s")
        return Round(name, longest, [*found, *await counted(self.dsn, self.book)])

    async def cluster_format(self) -> int:
        """Return the format that the deployment writes; versions without format numbers write the oldest."""
        if not await self.pool.fetchval("SELECT to_regclass('gnomon.cluster_format') IS NOT NULL"):
            return OLDEST
        number: int = await self.pool.fetchval("SELECT format FROM gnomon.cluster_format")
        return number

    def _held_back(self) -> Settings:
        return {"GNOMON_CLUSTER__FORMAT": str(self.earlier_format)}

    async def _is_refused(self, earlier: Path) -> bool:
        """Whether a node of the earlier version ends at its start and says why; the node comes back as it was."""
        node = self.deployment.nodes[0]
        await node.stop()
        node.root = earlier
        try:
            await node.start()
        except NotStarted:
            return NEWER in node.log.read_bytes()
        else:
            await node.stop()
            return False
        finally:
            node.root = ROOT
            await node.start()
