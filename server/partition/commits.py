"""The commits of a partition, one at a time; commands processed during one commit are added to the next.

No caller is answered before its commit. The next commit is sent before the callers of the last one are
answered, so that the store need not wait for them.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime

from server.engine.pages import DocumentId
from server.partition.config import PartitionConfig
from server.partition.turn import Entry, Growth, Turn, Turns
from server.store.ports import BatchRefused, Ledger

# The number of commits with one command each, after a commit was refused because it was too large.
CAREFUL_COMMITS = 128


class Commits:
    """`run` commits the growing turn until `end`; it calls `committed` with each turn, and `late` for a slow commit.

    The first `careful` commits have one command each. After a refused commit, `run` ends: the turn and all
    later ones were not carried out.
    """

    def __init__(
        self,
        ledger: Ledger,
        turns: Turns,
        config: PartitionConfig,
        *,
        committed: Callable[[Turn], None],
        late: Callable[[], None],
        careful: int = 0,
    ) -> None:
        self._ledger = ledger
        self._turns = turns
        self._config = config
        self._committed = committed
        self._late = late
        self._in_hand: deque[Turn] = deque()
        self._growing: Turn | None = None
        self._grown = asyncio.Event()
        self._taken = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()
        self._is_ending = False
        self._refused: Turn | None = None
        self.careful = careful

    def entries(self) -> Iterator[Entry]:
        """Entries that are processed but not answered yet."""
        return (entry for turn in self._in_hand for entry, _ in turn.results)

    def settle_refused(self) -> Iterator[Entry]:
        """After a refused commit: call `committed` with turns before it, and return the entries that did not happen."""
        if self._refused is None:
            return
        while self._in_hand and self._in_hand[0] is not self._refused:
            self._committed(self._in_hand.popleft())
        yield from self.entries()

    def touched(self) -> set[DocumentId]:
        """Documents with uncommitted changes."""
        return {document for turn in self._in_hand for document in turn.touched}

    @property
    def room(self) -> int:
        """The number of commands that the growing turn still accepts; audit entries count like commands."""
        most = 1 if self.careful else self._config.max_batch
        if self._growing is None:
            return most
        return 0 if self._growing.is_full else most - self._growing.share

    def grow(self, entries: Iterable[Entry], *, now: datetime) -> Growth:
        if self._growing is None:
            self._growing = Turn()
            self._in_hand.append(self._growing)
            self._idle.clear()
        growth = self._turns.grow(self._growing, entries, now=now)
        self._grown.set()
        return growth

    async def taken(self) -> None:
        """Return when the growing turn is being committed."""
        self._taken.clear()
        await self._taken.wait()

    async def idle(self) -> None:
        """Return when all turns are committed and answered."""
        await self._idle.wait()

    def end(self) -> None:
        """Let `run` return once everything is committed."""
        self._is_ending = True
        self._grown.set()

    def give_up(self) -> None:
        """Forget the turns in progress, whose outcome is unknown."""
        self._in_hand.clear()
        self._growing = None

    async def run(self, tasks: asyncio.TaskGroup) -> None:
        """Commit turns until `end`; raises the errors of the ledger."""
        last: Turn | None = None
        while last is not None or await self._has_grown():
            turn = self._take()
            committing = tasks.create_task(self._commit(turn)) if turn is not None else None
            if last is not None:
                await asyncio.sleep(0)  # until the next one has been sent
                self._in_hand.popleft()
                self._committed(last)
                if not self._in_hand:
                    self._idle.set()
            if committing is not None:
                await committing
            last = turn

    async def _has_grown(self) -> bool:
        """Wait for a growing turn; False after `end`, when there will be none."""
        while self._growing is None:
            if self._is_ending:
                return False
            self._grown.clear()
            await self._grown.wait()
        return True

    def _take(self) -> Turn | None:
        turn, self._growing = self._growing, None
        self._taken.set()
        if turn is not None:
            self._turns.seal(turn)
        return turn

    async def _commit(self, turn: Turn) -> None:
        if turn.batch.is_empty:
            return
        late = asyncio.get_running_loop().call_later(self._config.commit_seconds, self._late)
        turn.commit_began = time.time_ns()
        try:
            await self._ledger.commit(turn.batch)
            turn.commit_ended = time.time_ns()
            self.careful = max(self.careful - 1, 0)
        except BatchRefused:
            self._refused = turn
            raise
        finally:
            late.cancel()
