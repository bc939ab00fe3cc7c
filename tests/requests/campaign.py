"""Send many requests to servers of their own and collect the answers that are wrong.

A round is one server with one seed. A server that refuses the campaign's own client, because a request removed it or
its rights, is replaced by the next round's.
"""

import asyncio
import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from time import perf_counter
from urllib.parse import urlsplit

import httpx
from rich.table import Table

from edge.contract import routes
from server.platform.policy import Mode
from tests.campaigns.programs import READY_SECONDS, NotStarted, Program
from tests.postgres import open_directory
from tests.requests.building import Builder, Request
from tests.requests.chance import Chance
from tests.requests.connections import Answer, Connection, NoAnswer
from tests.requests.operations import Document, Operation
from tests.requests.values import Learned
from tests.requests.verdicts import FAILURES, Verdicts
from tests.server_process import FREE_PORTS

DOCUMENTS = ("/openapi.json", "/auth/v1/openapi.json")
MODES = (Mode.EMBEDDED, Mode.BUNDLED)
CONNECTIONS = 32
ROUND = 20_000
STARTS = 3
PROBE = "/v2/authentication/me"
PROBE_EVERY = 400
LARGEST_LEARNED = 50_000
CLIENT, SECRET = "campaign", "campaign-secret"
CONFIGURATION = """
[bootstrap]
tenants = ["other"]

[events.login_protection]
allowed_networks = ["127.0.0.0/8", "::1/128"]
"""
# Activations return at once when there is no job.
SETTINGS = {
    **FREE_PORTS,
    "GNOMON_BOOTSTRAP__CLIENT_ID": CLIENT,
    "GNOMON_BOOTSTRAP__CLIENT_SECRET": SECRET,
    "GNOMON_JOBS__LONG_POLL_SECONDS": "0.05",
    "GNOMON_JOBS__LONGEST_POLL_SECONDS": "0.05",
}
_TOKEN = re.compile("Bearer [-_.A-Za-z0-9]+")
LONGEST_EXAMPLE = 3_000
# An endless answer.
WITHOUT = {"GET /auth/v1/events/stream"}
# They change what all others depend on, or make keys for a second.
RARE = {
    "PUT /v2/clock": 40,
    "POST /v2/clock/reset": 4,
    "POST /auth/v1/oidc/rotate_jwk": 200,
    "POST /auth/v1/tenants": 20,
    "POST /v2/tenants": 20,
    "POST /auth/v1/blacklist": 20,
    "PUT /auth/v1/tenants/{id}": 10,
}
# Of the client that the campaign uses.
NOT_LEARNED = (CLIENT, "127.0.0.1")


@dataclass(slots=True)
class Findings:
    """What the answers of a campaign were."""

    mode: Mode
    seed: str
    sent: int = 0
    rounds: int = 0
    seconds: float = 0.0
    statuses: Counter[int] = field(default_factory=Counter)
    succeeded: Counter[str] = field(default_factory=Counter)
    asked: Counter[str] = field(default_factory=Counter)
    violations: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)

    def note(self, request: Request, answer: Answer, verdict: str) -> None:
        self.statuses[answer.status] += 1
        self.asked[request.operation.name] += 1
        if answer.status < 400:
            self.succeeded[request.operation.name] += 1
        if verdict:
            self.violated(request, verdict, answer.body)

    def violated(self, request: Request, verdict: str, body: bytes = b"") -> None:
        name = f"{request.operation.name}: {verdict}"
        self.violations[name] += 1
        text = _TOKEN.sub("Bearer …", request.content[:LONGEST_EXAMPLE].decode("utf-8", "backslashreplace"))
        self.examples.setdefault(name, f"{text}\n→ {body[:600].decode('utf-8', 'replace')}")

    @property
    def failures(self) -> int:
        """Answers of 500 and above, the documented ones of a mode that does not offer an operation among them."""
        return sum(count for status, count in self.statuses.items() if status >= FAILURES)

    def table(self) -> Table:
        table = Table(title=f"requests in {self.mode} mode, seed {self.seed}")
        for column in (
            "requests",
            "a second",
            "rounds",
            "operations",
            "that succeeded",
            "5xx",
            "wrong answers",
        ):
            table.add_column(column, justify="right")
        table.add_row(
            f"{self.sent:,}",
            f"{self.sent / max(self.seconds, 1e-9):,.0f}",
            str(self.rounds),
            f"{len(self.asked)}",
            f"{len(self.succeeded)}",
            f"{self.failures:,}",
            f"{sum(self.violations.values()):,} of {len(self.violations)} kinds",
        )
        table.caption = ", ".join(f"{status}: {count:,}" for status, count in sorted(self.statuses.items()))
        return table


async def campaign(
    mode: Mode, count: int, seed: str, logs: Path, *, told: Callable[[Findings], None] = lambda _: None
) -> Findings:
    """Send so many requests to servers of a mode, which log to a file; `told` hears of the findings after each round."""
    findings = Findings(mode, seed)
    while findings.sent < count:
        chance = Chance(f"{seed}/{mode}/{findings.rounds}")
        with open_directory() as data:
            (data / "gnomon.toml").write_text(CONFIGURATION)
            settings = {**SETTINGS, "GNOMON_DATA_DIR": str(data / "data")}
            (data / "data").mkdir()
            program = await _started(mode, settings, logs / f"{mode}.log", data / "gnomon.toml")
            try:
                await Round(program.addresses.http, findings, chance).play(min(ROUND, count - findings.sent))
            finally:
                await program.stop()
        told(findings)
    return findings


async def _started(mode: Mode, settings: Mapping[str, str], log: Path, file: Path) -> Program:
    """Return a server, also where other work of the machine keeps it from starting within the time at first."""
    for _ in range(STARTS):
        with suppress(TimeoutError):
            return await Program.started(mode, settings, log, file)
    raise NotStarted(f"not within {STARTS} times {READY_SECONDS:g} s")


class Round:
    """A running server, and what its answers have taught."""

    def __init__(self, url: str, findings: Findings, chance: Chance) -> None:
        parts = urlsplit(url)
        assert parts.hostname is not None
        assert parts.port is not None
        self._address = parts.hostname, parts.port
        self._findings = findings
        self._chance = chance
        self._learned = Learned()
        self._left = 0
        self._is_over = False
        token = _token(url)
        self._credentials = {"authorization": f"Bearer {token}"}
        self._turns: list[tuple[Operation, Builder, Verdicts]] = []
        for document in (_document(url, path, token) for path in DOCUMENTS):
            operations = [each for each in document.operations() if each.name not in WITHOUT]
            builder = Builder(chance, document, self._learned, parts.netloc)
            verdicts = Verdicts(document, operations, self._is_offered)
            self._turns += [(operation, builder, verdicts) for operation in operations]

    async def play(self, count: int) -> None:
        """Send so many requests, fewer when the server accepts the client no longer."""
        self._left = count
        begun = perf_counter()
        async with asyncio.TaskGroup() as tasks:
            for _ in range(CONNECTIONS):
                tasks.create_task(self._requests())
        self._findings.seconds += perf_counter() - begun
        self._findings.rounds += 1

    async def _requests(self) -> None:
        async with Connection(*self._address) as connection:
            while self._left > 0 and not self._is_over:
                self._left -= 1
                if self._left % PROBE_EVERY == 0 and not await self._is_accepted(connection):
                    self._is_over = True
                    return
                await self._request(connection)

    async def _request(self, connection: Connection) -> None:
        operation, builder, verdicts = self._turn()
        request = builder.request(operation, self._credentials)
        self._findings.sent += 1
        try:
            answer = await connection.answer(request.content)
        except NoAnswer as error:
            self._findings.violated(request, f"no answer: {error}")
            return
        self._findings.note(request, answer, verdicts.on(request, answer))
        if answer.status < 300 and 0 < len(answer.body) <= LARGEST_LEARNED and request.has_credential:
            self._learn(operation, answer)

    def _turn(self) -> tuple[Operation, Builder, Verdicts]:
        while True:
            turn = self._chance.choice(self._turns)
            if self._chance.between(1, RARE.get(turn[0].name, 1)) == 1:
                return turn

    def _learn(self, operation: Operation, answer: Answer) -> None:
        if answer.media_type != "application/json":
            return
        text = answer.body.decode()
        if not any(name in text for name in NOT_LEARNED):
            self._learned.learn(json.loads(text), operation.family)

    async def _is_accepted(self, connection: Connection) -> bool:
        head = {"host": "localhost", **self._credentials}
        lines = [f"GET {PROBE} HTTP/1.1", *(f"{name}: {value}" for name, value in head.items())]
        try:
            answer = await connection.answer("\r\n".join([*lines, "", ""]).encode())
        except NoAnswer:
            return False
        return answer.status == 200

    def _is_offered(self, operation: Operation) -> bool:
        return operation.operation_id not in _not_offered(self._findings.mode)


@cache
def _not_offered(mode: Mode) -> frozenset[str]:
    return frozenset(route.operation_id for route in routes() if mode not in route.policy.modes)


def _token(url: str) -> str:
    form = {"grant_type": "client_credentials", "client_id": CLIENT, "client_secret": SECRET}
    return str(httpx.post(f"{url}/auth/v1/oidc/token", data=form).raise_for_status().json()["access_token"])


def _document(url: str, path: str, token: str) -> Document:
    found = httpx.get(f"{url}{path}", headers={"authorization": f"Bearer {token}"})
    return Document(found.raise_for_status().json())
