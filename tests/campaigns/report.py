"""Report of a campaign: violations and measurements."""

import shutil
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from statistics import median

from rich.table import Table

from tests.campaigns.book import Book


@dataclass(frozen=True, slots=True)
class Round:
    """One round: its strike, its time, and its violations."""

    strike: str
    seconds: float
    violations: Sequence[str]


LOGS = Path(tempfile.gettempdir(), "gnomon-campaigns")


@dataclass(slots=True)
class Report:
    """`measure` says what the seconds are; to resume means in every partition that was struck, for what was sent since.
    Every round should take less than the `goal`.

    What the processes of the latest campaign of a name logged stays in its `logs`.
    """

    name: str
    seed: str
    book: Book
    measure: str = "s to resume"
    goal: float = inf
    rounds: list[Round] = field(default_factory=list)

    def __post_init__(self) -> None:
        shutil.rmtree(self.logs, ignore_errors=True)
        self.logs.mkdir(parents=True)

    @property
    def logs(self) -> Path:
        return LOGS / self.name

    @property
    def violations(self) -> Sequence[str]:
        return [f"{each.strike}: {found}" for each in self.rounds for found in each.violations]

    async def collect(self, rounds: int, one: Callable[[int], Awaitable[Round]]) -> None:
        """Run so many rounds, or until one finds something, which all that follow would find again."""
        for number in range(rounds):
            self.rounds.append(await one(number))
            if self.violations:
                return

    def table(self) -> Table:
        book = self.book
        caption = (
            f"{len(book.keys):,} commands acknowledged, {book.retries:,} attempts without an answer, "
            f"{len(book.started):,} process instances; seed {self.seed}; logs in {self.logs}"
        )
        table = Table(
            title=f"{self.name}: {len(self.rounds)} rounds", caption=caption, caption_justify="left"
        )
        table.add_column("strike")
        for column in ("rounds", f"median {self.measure}", "longest", "goal", "violations"):
            table.add_column(column, justify="right")
        for strike in dict.fromkeys(each.strike for each in self.rounds):
            some = [each for each in self.rounds if each.strike == strike]
            seconds = [each.seconds for each in some]
            table.add_row(
                strike,
                str(len(some)),
                f"{median(seconds):.1f}",
                f"{max(seconds):.1f}",
                self._verdict(max(seconds)),
                str(sum(len(each.violations) for each in some)),
            )
        return table

    def _verdict(self, longest: float) -> str:
        if self.goal == inf:
            return ""
        return f"{self.goal:g} reached" if longest < self.goal else f"{self.goal:g} missed"
