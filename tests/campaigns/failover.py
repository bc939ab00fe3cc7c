"""The leader of the reference deployment is killed under load: 503 until the standby leads, and nothing is missing."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack

from tests.campaigns.book import Book
from tests.campaigns.checks import counted
from tests.campaigns.dice import Dice
from tests.campaigns.http_api import HttpApi, connected
from tests.campaigns.load import deploy, under_load
from tests.campaigns.model import EVENTS, JOBS
from tests.campaigns.nodes import SECRET
from tests.campaigns.programs import Program
from tests.campaigns.reference import Member, Reference, reference
from tests.campaigns.report import Report, Round
from tests.campaigns.sign_in import token_of
from tests.postgres import open_directory

PARTITIONS = 4
NODES = 2
FEWEST_BEFORE, MOST_BEFORE = 200, 600
RESUME_SECONDS = 90.0
# Longer than any node lets a caller wait, so that what is not answered says so.
ATTEMPT_SECONDS = 15.0
STORIES = (JOBS, EVENTS)
UNAVAILABLE = "503"


async def run(rounds: int, seed: str) -> Report:
    report, dice = Report("failover", seed, Book()), Dice(seed)
    async with AsyncExitStack() as stack:
        directory = stack.enter_context(open_directory())
        database = await stack.enter_async_context(reference(directory, report.logs))
        settings = {
            "GNOMON_DATABASE__DSN": database.dsn,
            "GNOMON_CLUSTER__SECRET": SECRET,
            "GNOMON_CLUSTER__PORT": "0",
            "GNOMON_CLUSTER__PARTITIONS": str(PARTITIONS),
            "GNOMON_ENCRYPTION__KEY_FILE": str(directory / "master-keys"),
            "GNOMON_IDENTITY__PUBLIC_URL": "campaign.test",
            "GNOMON_IDENTITY__SCHEME": "http",
            "GNOMON_EDGE__PORT": "0",
            "GNOMON_GRPC__PORT": "0",
        }
        urls = []
        for number in range(NODES):
            node = await Program.started("cluster", settings, report.logs / f"node-{number}.log")
            stack.push_async_callback(node.stop)
            urls.append(node.addresses.http)
        api = await stack.enter_async_context(
            connected(urls, await token_of(urls[0]), attempt_seconds=ATTEMPT_SECONDS)
        )
        await deploy(api, STORIES)
        await report.collect(
            rounds, lambda number: _round(database, api, report.book, dice=dice, number=number)
        )
    return report


async def _machine(leader: Member) -> None:
    await leader.kill()


async def _server(leader: Member) -> None:
    leader.kill_server()


STRIKES: Mapping[str, Callable[[Member], Awaitable[None]]] = {
    "leader lost": _machine,
    "leader's PostgreSQL killed": _server,
}


async def _round(database: Reference, api: HttpApi, book: Book, *, dice: Dice, number: int) -> Round:
    loop = asyncio.get_running_loop()
    strike = list(STRIKES)[number % len(STRIKES)]
    leader = await database.leader()
    api.unanswered.clear()
    async with under_load(api, book, str(number), stories=STORIES):
        await book.more(dice.between(FEWEST_BEFORE, MOST_BEFORE))
        begun = loop.time()
        await STRIKES[strike](leader)
        async with asyncio.timeout(RESUME_SECONDS):
            seconds = max([await book.resumed(each, begun) for each in range(1, PARTITIONS + 1)])
        await leader.start()
    found = [
        f"{count} attempts ended with {why}" for why, count in api.unanswered.items() if why != UNAVAILABLE
    ]
    return Round(strike, seconds, [*found, *await counted(database.dsn, book)])
