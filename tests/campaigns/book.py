"""Book of the clients: every command that was acknowledged, and when."""

import asyncio
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field

from server.engine.keys import Key, partition_of
from tests.campaigns.model import Story


@dataclass(frozen=True, slots=True)
class Acknowledgement:
    """Times are the loop's; `begun` is that of the attempt that was answered."""

    partition_id: int
    begun: float
    ended: float


@dataclass(slots=True)
class Book:
    """Process instances by the key of their start, with their stories and the messages that were published for them;
    process instances of completed jobs, retries of failed ones, jobs by incident, ids of deployed processes.

    `keys` are the idempotency keys of everything that was acknowledged, `surprises` what should not have been answered.
    """

    started: dict[str, int] = field(default_factory=dict)
    stories: dict[int, Story] = field(default_factory=dict)
    messages: dict[int, int] = field(default_factory=dict)
    completed: dict[int, int] = field(default_factory=dict)
    failed: dict[int, int] = field(default_factory=dict)
    incidents: dict[int, int] = field(default_factory=dict)
    deployed: set[str] = field(default_factory=set)
    keys: set[str] = field(default_factory=set)
    surprises: list[str] = field(default_factory=list)
    acknowledgements: list[Acknowledgement] = field(default_factory=list)
    retries: int = 0
    _jobs: int = 0
    _messages: int = 0
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def open_jobs(self) -> int:
        return self._jobs - len(self.completed)

    @property
    def open_messages(self) -> int:
        return self._messages - len(self.messages)

    @property
    def open_instances(self) -> float:
        """As many as the jobs that are to be done make."""
        return self.open_jobs * len(self.started) / (self._jobs or 1)

    def acknowledge(self, idempotency_key: str, entity: int, *, begun: float, ended: float) -> None:
        """A command under this key was answered; the key of its entity tells the partition."""
        self.keys.add(idempotency_key)
        self.acknowledgements.append(Acknowledgement(partition_of(Key(entity)), begun, ended))
        self._changed.set()

    def start(self, idempotency_key: str, instance: int, story: Story) -> None:
        if self.started.setdefault(idempotency_key, instance) != instance:
            self.surprises.append(f"{idempotency_key} started {self.started[idempotency_key]} and {instance}")
            return
        self.stories[instance] = story
        self._jobs += story.job_count
        self._messages += bool(story.message)

    def look_again(self) -> None:
        """Something has changed that others wait for."""
        self._changed.set()

    async def until(self, condition: Callable[[], bool]) -> None:
        """Return when it holds; looked at after each acknowledgement."""
        while not condition():
            self._changed.clear()
            await self._changed.wait()

    async def more(self, count: int, unless: Callable[[], bool] = lambda: False) -> None:
        """Return when so many further commands were acknowledged, or none is waited for any longer."""
        goal = len(self.acknowledgements) + count
        await self.until(lambda: len(self.acknowledgements) >= goal or unless())

    async def resumed(self, partition_id: int, since: float) -> float:
        """Return when the partition acknowledged something that was sent after an instant: how long that took."""
        first = bisect_left(self.acknowledgements, since, key=lambda each: each.ended)

        def ends() -> list[float]:
            return [
                each.ended
                for each in self.acknowledgements[first:]
                if each.partition_id == partition_id and each.begun >= since
            ]

        await self.until(lambda: bool(ends()))
        return min(ends()) - since
