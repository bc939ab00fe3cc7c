"""Answers the callers of a partition: with committed results, or with the reason why there is none."""

import asyncio
from collections.abc import Iterable

from server.engine.answers import DONE, ActivatedJobs, TransitionBegun
from server.engine.events import Event
from server.engine.job_commands import YieldJobs
from server.partition.commits import Commits
from server.partition.idempotency import Answers
from server.partition.loop import Loop
from server.partition.repeats import Repeats
from server.partition.transition_waiters import TransitionWaiters, ended_well
from server.partition.turn import Entry, Result
from server.partition.waiting_commands import WaitingCommands
from server.platform.errors import ServiceError, Unavailable

LATE = "a commit is late; the command was not carried out"
REFUSED = "the commit was too large for the database; the command was not carried out"


class Replies:
    """Sets the result of each entry once; jobs for a caller that went away are offered again."""

    def __init__(
        self,
        pending: WaitingCommands,
        loop: Loop,
        commits: Commits,
        *,
        answers: Answers,
        repeats: Repeats,
        transitions: TransitionWaiters,
    ) -> None:
        self._pending = pending
        self._repeats = repeats
        self._loop = loop
        self._commits = commits
        self._answers = answers
        self._transitions = transitions

    def answer(self, entry: Entry, result: Result) -> None:
        """Give the caller the committed result; if a transition began, the caller waits for its end."""
        if entry.future is None:
            return
        if entry.future.done():
            self.take_back(result)
        elif isinstance(result, ServiceError):
            entry.future.set_exception(result)
        elif isinstance(result, TransitionBegun):
            self._transitions.hold(result.key, entry.tenant_id, entry.future)
        else:
            entry.future.set_result(result)

    def keep_final(self, happened: Iterable[Event]) -> None:
        """Keep the answers of requests whose transitions succeeded, because their callers may have given up."""
        for key in ended_well(happened):
            self._answers.keep_final(key, DONE)

    def take_back(self, answer: Result) -> None:
        """Offer the jobs of an answer again whose caller went away."""
        if isinstance(answer, ActivatedJobs) and answer.jobs:
            jobs = tuple((job.key, job.deadline) for job in answer.jobs)
            self._pending.put_urgent([Entry(YieldJobs(answer.jobs[0].instance.tenant_id, jobs))])

    def refuse_callers(self, reason: str) -> None:
        """Refuse all callers. Processed commands continue to their commit; unprocessed ones do not happen."""
        waiting = self._pending.clear()
        for entry in (*self._loop.in_hand, *self._repeats.entries(), *waiting):
            if entry.incoming is None:
                entry.refuse_untouched(LATE)
        for entry in self._commits.entries():
            if entry.incoming is None and entry.is_wanted:
                self._put_off(entry, reason)
        self._pending.put_urgent(entry for entry in waiting if entry.is_wanted)

    def _put_off(self, entry: Entry, reason: str) -> None:
        """Refuse the caller of a command that may be committed; a repeat waits for the outcome, so it takes effect once."""
        told, key = entry.future, entry.origin.idempotency if entry.origin else None
        if key is not None:
            entry.future = asyncio.get_running_loop().create_future()
            self._answers.keep(key, entry.future)
        if told is not None:
            told.set_exception(Unavailable(reason))

    def end(self, reason: str) -> None:
        """Refuse all callers, and drop all entries, because the partition has ended.

        Commands that are processed may be committed, unless the store refused their commit.
        """
        for entry in self._commits.settle_refused():
            entry.refuse_untouched(REFUSED)
        for entry in self._commits.entries():
            entry.refuse(reason)
        for entry in (*self._repeats.entries(), *self._loop.in_hand, *self._pending.clear()):
            entry.refuse_untouched(reason)
        self._commits.give_up()
