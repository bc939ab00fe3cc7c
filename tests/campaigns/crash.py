"""SIGKILL of engine processes, of PostgreSQL, of both and of the program itself, at random moments under load."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping

from tests.campaigns.api import Api
from tests.campaigns.book import Book
from tests.campaigns.bundled import PARTITIONS, Bundled, bundled, killed
from tests.campaigns.checks import counted, verified
from tests.campaigns.dice import Dice
from tests.campaigns.grpc_api import connected
from tests.campaigns.load import deploy, under_load
from tests.campaigns.model import EVENTS, JOBS
from tests.campaigns.report import Report, Round
from tests.campaigns.sign_in import token_of

CONNECTIONS = 6
FEWEST_BEFORE, MOST_BEFORE = 50, 400
RESUME_SECONDS = 60.0
STORIES = (JOBS, EVENTS)


async def _one_engine(deployment: Bundled, dice: Dice) -> None:
    await killed([dice.choice(deployment.engines())])


async def _all_engines(deployment: Bundled, _: Dice) -> None:
    await killed(deployment.engines())


async def _postgres(deployment: Bundled, _: Dice) -> None:
    await killed(deployment.postgres())


async def _both(deployment: Bundled, _: Dice) -> None:
    await killed([*deployment.postgres(), *deployment.engines()])


async def _program(deployment: Bundled, _: Dice) -> None:
    await deployment.kill_program()


# Each returns when nothing that it killed can answer any more.
STRIKES: Mapping[str, Callable[[Bundled, Dice], Awaitable[None]]] = {
    "both": _both,
    "one engine": _one_engine,
    "PostgreSQL": _postgres,
    "all engines": _all_engines,
    "the program": _program,
}


async def run(rounds: int, seed: str) -> Report:
    """Strike in turns, and check everything after each round."""
    report = Report("crash", seed, Book())
    dice = Dice(seed)
    async with (
        bundled(report.logs) as deployment,
        connected([deployment.grpc] * CONNECTIONS, await token_of(deployment.http)) as api,
    ):
        await deploy(api, STORIES)
        await report.collect(
            rounds, lambda number: _round(deployment, api, report.book, dice=dice, number=number)
        )
    return report


async def _round(deployment: Bundled, api: Api, book: Book, *, dice: Dice, number: int) -> Round:
    strike = list(STRIKES)[number % len(STRIKES)]
    loop = asyncio.get_running_loop()
    async with under_load(api, book, str(number), stories=STORIES):
        await book.more(dice.between(FEWEST_BEFORE, MOST_BEFORE))
        begun = loop.time()
        await STRIKES[strike](deployment, dice)
        gone = loop.time()
        await deployment.keep_running()
        async with asyncio.timeout(RESUME_SECONDS):
            seconds = gone - begun + max([await book.resumed(each, gone) for each in PARTITIONS])
        early = await verified(deployment.dsn)
    late = await counted(deployment.dsn, book)
    return Round(strike, seconds, [*early, *late])
