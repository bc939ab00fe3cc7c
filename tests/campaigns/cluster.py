"""The owner of partitions is killed, paused and cut off under load; others carry on, and it changes nothing."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import asyncpg

from tests.campaigns.api import Api
from tests.campaigns.book import Book
from tests.campaigns.checks import counted, verified
from tests.campaigns.dice import Dice
from tests.campaigns.http_api import connected
from tests.campaigns.load import deploy, under_load
from tests.campaigns.model import EVENTS, JOBS
from tests.campaigns.nodes import LEASE_SECONDS, Cluster, Node, cluster
from tests.campaigns.proxy import Proxy, to_socket
from tests.campaigns.report import Report, Round
from tests.campaigns.sign_in import token_of
from tests.postgres import open_directory, postgres_server

PARTITIONS = 6
NODES, EDGES = 3, 2
FEWEST_BEFORE, MOST_BEFORE = 50, 400
RESUME_SECONDS = 60.0
STORIES = (JOBS, EVENTS)
BACK_SECONDS = 60.0
LOOK_SECONDS = 0.05


async def run(rounds: int, seed: str) -> Report:
    """Strike an owner in turns, and check everything after each round."""
    report, dice = Report("cluster", seed, Book(), goal=2 * LEASE_SECONDS), Dice(seed)
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
            ) as deployment,
            connected(deployment.edges, await token_of(deployment.edges[0])) as api,
        ):
            await deploy(api, STORIES)
            campaign = Campaign(deployment, api, report.book, dsn=dsn, pool=pool)
            await report.collect(rounds, lambda number: campaign.round(number, dice))
    return report


def through(dsn: str, proxy: Proxy) -> str:
    """The DSN by which a node reaches the database through its proxy."""
    parts = urlsplit(dsn)
    return parts._replace(netloc=f"{parts.username}:{parts.password}@{proxy.address}", query="").geturl()


class Campaign:
    def __init__(self, deployment: Cluster, api: Api, book: Book, *, dsn: str, pool: asyncpg.Pool) -> None:
        self.deployment = deployment
        self.api = api
        self.book = book
        self.dsn = dsn
        self.pool = pool

    async def round(self, number: int, dice: Dice) -> Round:
        """Strike an owner under load, bring it back when everything is worked off, and count."""
        strike = list(STRIKES)[number % len(STRIKES)]
        begin, end = STRIKES[strike]
        await self.balanced()
        loop = asyncio.get_running_loop()
        async with under_load(self.api, self.book, str(number), stories=STORIES):
            await self.book.more(dice.between(FEWEST_BEFORE, MOST_BEFORE))
            node = dice.choice(self.deployment.nodes)
            owned = await self.epochs(node)
            begun = loop.time()
            await begin(self, node)
            async with asyncio.timeout(RESUME_SECONDS):
                seconds = max([await self.book.resumed(partition_id, begun) for partition_id in owned])
            found = [*await verified(self.dsn)]
            epochs = await self.epochs_of(owned)
        found += [f"partition {each} kept its epoch" for each in owned if epochs[each] <= owned[each]]
        positions = await self.positions()
        await end(self, node)
        await self.balanced()
        if await self.positions() != positions:
            found.append(f"{node.name} came back and committed: {positions} before it did")
        return Round(strike, seconds, [*found, *await counted(self.dsn, self.book)])

    async def kill(self, node: Node) -> None:
        await node.kill()

    async def start(self, node: Node) -> None:
        await node.start()

    async def pause(self, node: Node) -> None:
        node.pause()

    async def wake(self, node: Node) -> None:
        node.wake()

    async def pause_and_wake(self, node: Node) -> None:
        """It wakes under load, when everything it owned is others'."""
        owned = await self.epochs(node)
        node.pause()
        async with asyncio.timeout(RESUME_SECONDS):
            while (await self.epochs(node)).keys() & owned.keys():  # noqa: ASYNC110  # a table says it
                await asyncio.sleep(LOOK_SECONDS)
        node.wake()

    async def cut(self, node: Node) -> None:
        node.cut()

    async def cut_from_database(self, node: Node) -> None:
        node.cut_from_database()

    async def mend(self, node: Node) -> None:
        node.mend()

    async def nothing(self, node: Node) -> None:
        """It has come back by itself."""

    async def balanced(self) -> None:
        """Return when every node lives and has its share."""
        text = """
            SELECT count(*) FROM (
                SELECT owner FROM gnomon.partition AS held JOIN gnomon.node ON node_id = owner
                WHERE held.expires_at > clock_timestamp() AND node.expires_at > clock_timestamp()
                GROUP BY owner HAVING count(*) = $1
            ) AS balanced
        """
        async with asyncio.timeout(BACK_SECONDS):
            while await self.pool.fetchval(text, PARTITIONS // NODES) < NODES:  # noqa: ASYNC110  # a table says it
                await asyncio.sleep(LOOK_SECONDS)

    async def epochs(self, node: Node) -> Mapping[int, int]:
        """Of the partitions that the node owns; each start of its process adds to the name, but in earlier versions."""
        text = "SELECT partition_id, epoch FROM gnomon.partition WHERE owner = $1 OR owner LIKE $1 || '-%'"
        return dict(await self.pool.fetch(text, node.name))

    async def epochs_of(self, partitions: Iterable[int]) -> Mapping[int, int]:
        text = "SELECT partition_id, epoch FROM gnomon.partition WHERE partition_id = ANY($1::smallint[])"
        return dict(await self.pool.fetch(text, list(partitions)))

    async def positions(self) -> Mapping[int, int]:
        """How many commits each partition has seen."""
        return dict(await self.pool.fetch("SELECT partition_id, position FROM gnomon.partition"))


Act = Callable[[Campaign, Node], Awaitable[None]]

# Strikes against the owner, and how it comes back.
STRIKES: Mapping[str, tuple[Act, Act]] = {
    "paused, woken under load": (Campaign.pause_and_wake, Campaign.nothing),
    "killed": (Campaign.kill, Campaign.start),
    "cut off": (Campaign.cut, Campaign.mend),
    "paused": (Campaign.pause, Campaign.wake),
    "cut off from the database": (Campaign.cut_from_database, Campaign.mend),
}
