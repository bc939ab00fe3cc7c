"""Play random histories on both engines in lockstep, and look at what they offer after every step.

Many histories share the broker, each with processes, messages and signals of its own; time passes for all at once.
A history ends at its first difference. Histories of a broker that does not answer are played again on another one.
"""

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from http import HTTPStatus
from typing import Any

import grpc
from rich.console import Console
from rich.table import Table

from server.bpmn.reader import read
from server.lint.linter import lint, refusals
from tests.campaigns.dice import Dice
from tests.peer.differences import DIFFERENCES, STANDING, explanations
from tests.peer.models import GOOD, JOB_TYPES, Names, mirrored, random_files
from tests.peer.moves import Move, chosen_move, ours, theirs
from tests.peer.ours import OK, Ours, milliseconds
from tests.peer.picture import Facts, Picture
from tests.peer.predicates import Found
from tests.peer.theirs import Pictures
from tests.peer.zeebe import NotQuiet, Zeebe, zeebe

_AT_ONCE = 50
_MOST_ATTEMPTS = 3
_STEPS = 24
_SETTLE_SECONDS = 4
# The broker looks for what is due when its clock has moved on, and does not find all at once: it is moved on a little.
_NUDGE_MILLISECONDS = 110
_MOST_NUDGES = 8
_PATIENCE_SECONDS = 0.3
_ANSWER_SECONDS = 90
# No time that passes in whole steps meets a deadline or the end of a back-off: whether that is late is a matter of
# milliseconds.
_JOB_TIMEOUT = timedelta(seconds=151)
# The longest ones make a cycle late by several intervals.
_SECONDS = (5, 10, 20, 40, 55, 170, 230)


# Answers of HTTP requests.
_STATUSES: Mapping[int, str] = {
    HTTPStatus.OK: OK,
    HTTPStatus.NO_CONTENT: OK,
    HTTPStatus.BAD_REQUEST: "INVALID_ARGUMENT",
    HTTPStatus.NOT_FOUND: "NOT_FOUND",
    HTTPStatus.CONFLICT: "FAILED_PRECONDITION",
}


# What a broker answers that has too much to do.
_NO_ANSWERS = {"UNAVAILABLE", "DEADLINE_EXCEEDED", "RESOURCE_EXHAUSTED", "CANCELLED"}


@dataclass(slots=True)
class Comparison:
    """`explained` counts by difference. `unexplained` are texts. `differing` processes were not compared to the end.

    `repeated` processes were played again, because the broker did not answer. `lost` ones are in no other number: it
    did not answer in any attempt.
    """

    seed: str
    processes: int = 0
    steps: int = 0
    differing: int = 0
    repeated: int = 0
    lost: int = 0
    moves: Counter[str] = field(default_factory=Counter)
    elements: Counter[str] = field(default_factory=Counter)
    explained: Counter[str] = field(default_factory=Counter)
    unexplained: list[str] = field(default_factory=list)

    def add(self, other: "Comparison") -> None:
        self.processes += other.processes
        self.steps += other.steps
        self.differing += other.differing
        self.moves += other.moves
        self.elements += other.elements
        self.explained += other.explained
        self.unexplained += other.unexplained

    def table(self) -> Table:
        same = self.processes - self.differing
        table = Table(
            title=f"{self.processes:,} processes, beside Zeebe 8.6: {self.steps:,} steps compared",
            caption=f"{same:,} agree to the end, {len(self.unexplained)} unexplained; seed {self.seed}\n"
            f"{self.repeated:,} played again because the broker did not answer, {self.lost:,} not compared\n"
            f"{_listed(self.moves)}\n{_listed(self.elements)}",
            caption_justify="left",
        )
        table.add_column("difference")
        table.add_column("times", justify="right")
        table.add_column("rule that decides", overflow="fold")
        for row in DIFFERENCES:
            table.add_row(row.name, f"{self.explained[row.name]:,}", row.rule)
        for standing in STANDING:
            table.add_row(standing.name, "", standing.rule)
        return table


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {number:,}" for name, number in counts.most_common())


class _History:
    def __init__(self, number: int, seed: str, at: datetime) -> None:
        self.number = number
        self.names = Names(str(number))
        self.dice = Dice(f"{seed}/{number}")
        self.files = random_files(self.dice, self.names)
        self.ours = Ours(at)
        self.move: Move | None = None
        self.told: list[str] = []
        self.was_modified = False

    @cached_property
    def element_ids(self) -> Sequence[str]:
        """Of what is in its process, once that is deployed."""
        definitions = self.ours.scenario.state.definitions.values()
        return [
            element_id
            for definition in definitions
            if definition.process_definition_id == self.names.process
            for element_id in definition.process.elements
            if element_id != self.names.process
        ]

    @property
    def is_accepted(self) -> bool:
        return not any(refusals(lint(read(file))) for file in self.files)


def compared(numbers: Sequence[int], seed: str, console: Console, *, is_told: bool = False) -> Comparison:
    result = Comparison(seed)
    left = [numbers[start : start + _AT_ONCE] for start in range(0, len(numbers), _AT_ONCE)]
    attempts = 0
    while left:
        attempts += 1
        try:
            for told in _played(left, seed, result, console):
                attempts = 0
                if is_told:
                    console.print("\n".join(told), markup=False, highlight=False, soft_wrap=True)
        except (NotQuiet, OSError, grpc.RpcError) as error:
            console.print(f"the broker does not answer: {error!r}", markup=False, highlight=False)
            if attempts < _MOST_ATTEMPTS:
                result.repeated += len(left[0])
            else:
                result.lost += len(left.pop(0))
                attempts = 0
    return result


def _played(
    left: list[Sequence[int]], seed: str, result: Comparison, console: Console
) -> Iterator[Sequence[str]]:
    """Play and remove one batch after the other on a new broker; what each of them tells."""
    with zeebe() as broker:
        # Its own time: the broker's timers do not follow a clock that goes back, or far ahead.
        clock = broker.now()
        while left:
            part = Comparison(seed)
            lockstep = _Lockstep(left[0], seed, broker, part, clock)
            lockstep.play()
            clock = lockstep.clock + timedelta(seconds=1)
            left.pop(0)
            result.add(part)
            console.print(
                f"{result.processes:,} processes, {result.steps:,} steps, {result.differing} differ,"
                f" {len(result.unexplained)} unexplained"
            )
            yield lockstep.told


class _Lockstep:
    def __init__(
        self, numbers: Sequence[int], seed: str, broker: Zeebe, result: Comparison, clock: datetime
    ) -> None:
        self.clock = clock
        self.told: list[str] = []
        self._broker = broker
        self._result = result
        self._pictures = Pictures()
        self._schedule = Dice(f"{seed}/schedule")
        # Later than our clock by less than a second.
        self._nudges = 0
        broker.pin(milliseconds(clock))
        self._live = [_History(number, seed, clock) for number in numbers]
        for history in self._live:
            self._pictures[history.names.number] = Picture(history.ours.picture.began)

    def play(self) -> None:
        self._result.processes += len(self._live)
        self.told += [file.decode() for history in self._live for file in history.files]
        self._deploy()
        for step in range(_STEPS):
            if not self._live:
                return
            if step and self._schedule.between(1, 4) == 1:
                self._advance(self._schedule.choice(_SECONDS))
                self._compare(step, {})
            else:
                first = Move("start", variables=GOOD) if not step else None
                self._compare(step, self._move(first))
        self._end_all()

    def _deploy(self) -> None:
        accepted = []
        request = self._broker.requests
        for history in self._live:
            resources = [
                request.Resource(name=f"{place}_{history.number}.bpmn", content=mirrored(file))
                for place, file in enumerate(history.files)
            ]
            call = self._broker.gateway.DeployResource.future(
                request.DeployResourceRequest(resources=resources)
            )
            accepted.append(call)
        for history, call in zip(list(self._live), accepted, strict=True):
            theirs_says = _answer(call)
            if history.is_accepted and theirs_says == OK:
                history.ours.deploy(*history.files)
                self._count(history)
            else:
                ours_says = OK if history.is_accepted else "INVALID_ARGUMENT"
                if ours_says == theirs_says:
                    self._live.remove(history)
                else:
                    reason = _details(call) or str(refusals(lint(read(history.files[0]))))
                    self._differ(
                        history,
                        -1,
                        {"answer": Counter({(ours_says,): 1})},
                        {"answer": Counter({(theirs_says, reason): 1})},
                        {},
                    )

    def _count(self, history: _History) -> None:
        for definition in history.ours.scenario.state.definitions.values():
            self._result.elements.update(
                element.type.value for element in definition.process.elements.values()
            )

    def _move(self, first: Move | None) -> dict[int, tuple[str, str]]:
        calls: list[tuple[_History, Any, str]] = []
        for history in self._live:
            mine, other = history.ours.look(), self._picture(history)
            move = first or chosen_move(history.dice, mine, history.names, history.element_ids)
            if first is not None:
                move = Move("start", text=history.names.process, variables=first.variables)
            history.move = move
            history.was_modified |= move.kind == "modify"
            self._result.moves[move.kind] += 1
            call = theirs(move, other, self._broker)
            calls.append((history, call, history.ours.execute(ours(move, mine))))
        return {history.number: (answer, _answer(call)) for history, call, answer in calls}

    def _advance(self, seconds: int) -> None:
        by = timedelta(seconds=seconds)
        self.clock += by
        self._broker.pin(self._their_now())
        for history in self._live:
            history.move = Move("advance", number=seconds)
            self._result.moves["advance"] += 1
            history.ours.advance(by)

    def _compare(self, step: int, answers: dict[int, tuple[str, str]]) -> None:
        self._settle()
        self._activate()
        self._settle()
        for history in list(self._live):
            mine, other = history.ours.look().facts(), self._picture(history).facts()
            if history.number in answers:
                ours_says, theirs_says = answers[history.number]
                mine["answer"], other["answer"] = Counter({(ours_says,): 1}), Counter({(theirs_says,): 1})
            self.told.append(f"{step}: {history.move}")
            only_ours, only_theirs = _minus(mine, other), _minus(other, mine)
            self._result.steps += 1
            if only_ours or only_theirs:
                self._differ(history, step, only_ours, only_theirs, _common(mine, other))

    def _activate(self) -> None:
        for history in self._live:
            history.ours.activate(JOB_TYPES, _JOB_TIMEOUT)
        request = self._broker.requests.ActivateJobsRequest
        for job_type in JOB_TYPES:
            while any(
                response.jobs
                for response in self._broker.gateway.ActivateJobs(
                    request(
                        type=job_type,
                        worker="worker",
                        timeout=round(1000 * _JOB_TIMEOUT.total_seconds()),
                        maxJobsToActivate=10_000,
                        requestTimeout=-1,
                    )
                )
            ):
                pass

    def _settle(self) -> None:
        """Until the broker owes nothing: no subscription is being opened, no timer and no deadline is overdue.

        What it owes after some seconds is a difference.
        """
        end, nudge = time.monotonic() + _SETTLE_SECONDS, time.monotonic() + _PATIENCE_SECONDS
        while time.monotonic() < end:
            self._pictures.note(self._broker.records())
            now = self._their_now()
            pictures = [self._picture(history) for history in self._live]
            is_overdue = any(due <= now for each in pictures for due in each.ends_at)
            if not is_overdue and not any(each.unsettled for each in pictures):
                return
            if is_overdue and time.monotonic() > nudge and self._nudges < _MOST_NUDGES:
                self._nudges += 1
                self._broker.pin(self._their_now())
                nudge = time.monotonic() + _PATIENCE_SECONDS
        for history in self._live:
            self._picture(history).forget(self._their_now())

    def _their_now(self) -> int:
        return milliseconds(self.clock) + self._nudges * _NUDGE_MILLISECONDS

    def _picture(self, history: _History) -> Picture:
        return self._pictures[history.names.number]

    def _end_all(self) -> None:
        """Cancel what is left."""
        while longest := max((len(history.ours.look().roots()) for history in self._live), default=0):
            calls = []
            for history in self._live:
                if history.ours.picture.roots():
                    history.move = Move("cancel")
                    call = theirs(history.move, self._picture(history), self._broker)
                    answer = history.ours.execute(ours(history.move, history.ours.picture))
                    calls.append((history, call, answer))
            answers = {history.number: (answer, _answer(call)) for history, call, answer in calls}
            self._compare(_STEPS + longest, answers)

    def _drop(self, history: _History) -> None:
        """Its process instances would still be in the way of others."""
        self._live.remove(history)
        for key in self._picture(history).roots():
            request = self._broker.requests.CancelProcessInstanceRequest(processInstanceKey=key)
            _answer(self._broker.gateway.CancelProcessInstance.future(request))

    def _differ(
        self, history: _History, step: int, only_ours: Facts, only_theirs: Facts, both: Facts
    ) -> None:
        """Explain what differs; unless it does not matter for the rest, the history ends here."""
        kind = history.move.kind if history.move is not None else "deploy"
        model = history.files[0].decode()
        picture = self._picture(history)
        forgotten = frozenset(
            picture.path(job.element_key) for job in picture.live_jobs() if job.key in picture.forgotten
        )
        found = Found(
            history.number,
            step,
            kind,
            str(history.move),
            history.ours.reason,
            picture.passed,
            history.was_modified,
            forgotten,
            only_ours,
            only_theirs,
            both,
            model,
        )
        rows = explanations(found)
        self._result.explained.update(row.name for row in rows)
        if not rows:
            self._result.unexplained.append(str(found))
        if not rows or not all(row.goes_on for row in rows):
            self._result.differing += 1
            self._drop(history)


def _common(some: Facts, others: Facts) -> Facts:
    return {kind: facts & others.get(kind, Counter()) for kind, facts in some.items()}


def _minus(some: Facts, others: Facts) -> Facts:
    left = {kind: facts - others[kind] for kind, facts in some.items()}
    return {kind: facts for kind, facts in left.items() if facts}


def _answer(call: Any) -> str:
    """Raises NotQuiet."""
    try:
        result = call.result(timeout=_ANSWER_SECONDS)
    except grpc.RpcError as error:
        code = str(error.code().name)
        if code in _NO_ANSWERS:
            raise NotQuiet(f"{code}: {error.details()}") from error
        return code
    except (TimeoutError, grpc.FutureTimeoutError) as error:
        raise NotQuiet("no answer") from error
    if not isinstance(result, int):
        return OK
    if result in {HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.GATEWAY_TIMEOUT}:
        raise NotQuiet(f"HTTP status {result}")
    return _STATUSES.get(result, str(result))


def _details(call: Any) -> str:
    return str(call.details() or "")
