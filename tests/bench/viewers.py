"""What a viewer of a definition's live page costs while 200 of its instances run each second.

A viewer does what the script of the page does while counts keep changing: it holds the stream of server-sent events open
and fetches the page once in ten seconds. Rounds without viewers and with them take turns, in one bundled server, so all
of them count about the same number of instances. The processor time is that of the server with PostgreSQL.
"""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from statistics import median

import requests
from rich.table import Table

from server.bpmn.builder import process
from tests.bench.instance_load import Asked, Figures, loaded
from tests.bench.processes import tree_seconds
from tests.bench.served import CALL_SECONDS, Served, deploy, served, token_of
from tests.people.person import Person
from tests.postgres import postgres_server
from tests.server_process import DEMO_ACCESS

PROCESS = "watched"
MODEL = process(PROCESS).start().service_task("work", type=PROCESS).end()
STARTS_A_SECOND = 200
IN_FLIGHT = 64
SECONDS = 20
ROUNDS = 5
VIEWERS = (0, 1, 10)
# The longest pause between two fetches of the page by its script.
RENEWAL_SECONDS = 10.0
GOAL_PERCENT = 5.0
ADMINISTRATOR = "admin@localhost"


@dataclass(slots=True)
class Round:
    """Processor time in seconds, events that the viewers received, and what the load measured."""

    cpu: float
    events: int
    load: Figures


def table() -> Table:
    table = Table(title=f"Viewers of a definition with {STARTS_A_SECOND} instances a second")
    table.add_column("viewers")
    for column in ("instances/s", "CPU, % of a core", "for one viewer", "events/s for each", "start p50, ms"):
        table.add_column(column, justify="right")
    table.add_column(f"goal {GOAL_PERCENT:g} % for one")
    with postgres_server() as dsn, served(dsn) as server:
        rounds = measured(server)
    alone = _percent(rounds[0])
    for viewers in VIEWERS:
        table.add_row(*_row(viewers, rounds[viewers], alone))
    return table


def measured(server: Served) -> dict[int, list[Round]]:
    """Return the rounds by the number of viewers."""
    addresses = server.addresses
    token = token_of(addresses.http)
    deploy(addresses.grpc, token, MODEL.to_xml())
    asked = Asked("grpc", addresses.grpc, token, PROCESS, SECONDS, IN_FLIGHT, STARTS_A_SECOND)
    console = _Console.of(addresses.http)
    rounds: dict[int, list[Round]] = {viewers: [] for viewers in VIEWERS}
    for _ in range(ROUNDS):
        for viewers in VIEWERS:
            with console.watched(viewers) as events:
                begun = tree_seconds(server.processes)
                figures = loaded(asked)
                cpu = tree_seconds(server.processes) - begun
            rounds[viewers].append(Round(cpu, sum(each.received for each in events), figures))
    return rounds


def _row(viewers: int, rounds: Sequence[Round], alone: float) -> Sequence[str]:
    percent = _percent(rounds)
    seconds = sum(each.load.seconds for each in rounds)
    completed = sum(each.load.completed for each in rounds)
    starts = median(each.load.starts[len(each.load.starts) // 2] for each in rounds) * 1000
    first = f"{viewers}", f"{completed / seconds:.0f}", f"{percent:.1f}"
    if not viewers:
        return (*first, "", "", f"{starts:.1f}", "")
    cost = (percent - alone) / viewers
    events = sum(each.events for each in rounds) / seconds / viewers
    outcome = "reached" if cost <= GOAL_PERCENT else "missed"
    return (*first, f"{cost:.1f}", f"{events:.2f}", f"{starts:.1f}", outcome)


def _percent(rounds: Sequence[Round]) -> float:
    return median(each.cpu / each.load.seconds * 100 for each in rounds)


@dataclass(slots=True)
class _Viewer:
    """A page that is shown until the end of a round."""

    page: str
    live: str
    cookies: requests.cookies.RequestsCookieJar
    received: int = 0
    _ended: threading.Event = field(default_factory=threading.Event)

    def watch(self) -> None:
        accept = {"Accept": "text/event-stream"}
        with (
            requests.get(
                self.live, headers=accept, cookies=self.cookies, stream=True, timeout=CALL_SECONDS
            ) as stream,
        ):
            stream.raise_for_status()
            for line in stream.iter_lines(chunk_size=None):
                if self._ended.is_set():
                    return
                self.received += line.startswith(b"data:")

    def renew(self) -> None:
        while not self._ended.wait(RENEWAL_SECONDS):
            requests.get(self.page, cookies=self.cookies, timeout=CALL_SECONDS).raise_for_status()

    def end(self) -> None:
        self._ended.set()


@dataclass(frozen=True, slots=True)
class _Console:
    """The addresses of the watched page, and the session of an administrator."""

    page: str
    live: str
    cookies: requests.cookies.RequestsCookieJar

    @classmethod
    def of(cls, http: str) -> "_Console":
        person = Person(f"{http}/auth/v1/", ADMINISTRATOR, DEMO_ACCESS["GNOMON_BOOTSTRAP__ADMIN_PASSWORD"])
        arrival = person.sign_in(f"{http}/console/default/processes")
        person.browser.get(arrival.url, timeout=CALL_SECONDS).raise_for_status()
        body = {"filter": {"processDefinitionId": PROCESS}}
        headers = {"Authorization": f"Bearer {token_of(http)}"}
        found = requests.post(
            f"{http}/v2/process-definitions/search", json=body, headers=headers, timeout=CALL_SECONDS
        ).json()
        page = f"{http}/console/default/processes/{found['items'][0]['processDefinitionKey']}"
        return cls(page, f"{page}/live", person.browser.cookies)

    @contextmanager
    def watched(self, viewers: int) -> Iterator[Sequence[_Viewer]]:
        """The page in this many tabs while the block runs."""
        shown = [_Viewer(self.page, self.live, self.cookies) for _ in range(viewers)]
        threads = [threading.Thread(target=work) for each in shown for work in (each.watch, each.renew)]
        for thread in threads:
            thread.start()
        try:
            yield shown
        finally:
            for each in shown:
                each.end()
            for thread in threads:
                thread.join()
