"""64 clients send each command three times under its key, over connections that break; each has its effect once."""

import asyncio
from urllib.parse import urlsplit

import aiohttp

from tests.campaigns.api import ATTEMPT_SECONDS, until_answered
from tests.campaigns.book import Book
from tests.campaigns.bundled import Bundled, bundled
from tests.campaigns.checks import counted
from tests.campaigns.dice import Dice
from tests.campaigns.http_api import Answer, HttpApi, Json, session_of
from tests.campaigns.load import Size, deploy, under_load
from tests.campaigns.model import JOBS
from tests.campaigns.proxy import proxied, to_port
from tests.campaigns.report import Report, Round
from tests.campaigns.sign_in import token_of

CLIENTS = Size(starters=32, workers=16, most_open=100)
COMMANDS = 1_000
TIMES = 3
# Of the pieces that pass through a connection, one in so many ends it; most are a request or an answer.
BREAKS_EVERY = 5


class ThriceApi(HttpApi):
    """Sends every command three times over what breaks, some at once and some one after the other, until each is answered."""

    def __init__(self, session: aiohttp.ClientSession, url: str, *, breaking: HttpApi, dice: Dice) -> None:
        super().__init__(session, [url])
        self.differences: list[str] = []
        self._breaking = breaking
        self._dice = dice

    async def command(self, method: str, path: str, body: Json, *, idempotency_key: str) -> Answer:
        send = self._breaking.command

        async def once() -> Answer:
            return await until_answered(lambda: send(method, path, body, idempotency_key=idempotency_key))

        together = self._dice.between(0, TIMES)
        answers = [*await asyncio.gather(*(once() for _ in range(together)))]
        while len(answers) < TIMES:
            answers.append(await once())
        if any(answer.is_success for answer in answers) and len(set(answers)) > 1:
            self.differences.append(f"{idempotency_key} was answered with {answers}")
        return answers[0]


async def run(rounds: int, seed: str, commands: int = COMMANDS) -> Report:
    """So many commands each round, each three times."""
    report, dice = Report("storm", seed, Book(), measure="s for a round"), Dice(seed)

    def is_lucky() -> bool:
        return dice.between(1, BREAKS_EVERY) > 1

    async with bundled(report.logs) as deployment:
        port = urlsplit(deployment.http).port
        assert port is not None
        async with (
            proxied(to_port(port), is_lucky) as proxy,
            session_of(await token_of(deployment.http), ATTEMPT_SECONDS) as session,
        ):
            breaking = HttpApi(session, [f"http://{proxy.address}"])
            api = ThriceApi(session, deployment.http, breaking=breaking, dice=dice)
            await deploy(api, (JOBS,))
            await report.collect(
                rounds,
                lambda number: _round(deployment, api, report.book, commands=commands, number=number),
            )
            report.book.retries = breaking.unanswered.total()
    return report


async def _round(deployment: Bundled, api: ThriceApi, book: Book, *, commands: int, number: int) -> Round:
    loop = asyncio.get_running_loop()
    begun = loop.time()
    async with under_load(api, book, str(number), CLIENTS):
        await book.more(commands)
    found = [*api.differences, *await counted(deployment.dsn, book)]
    return Round(f"{TIMES} times", loop.time() - begun, found)
