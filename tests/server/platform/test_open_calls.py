"""Open calls end with their credentials; a fake check decides which callers may go on."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import pytest

from gnomon.engine.v1 import job_service_pb2 as pb
from server.platform.call import Call, Principal
from server.platform.clock import VirtualClock
from server.platform.errors import ServiceError, Unauthenticated, Unavailable
from server.platform.open_calls import OpenCalls
from server.platform.policy import policies_of
from tests.waits import until

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
POLICY = policies_of(pb.DESCRIPTOR.services_by_name["JobService"])[
    "/gnomon.engine.v1.JobService/ActivateJobs"
]
REVOKED = Unauthenticated("the token was revoked")


class World:
    """Open calls of callers by their subjects, with the errors of their next checks."""

    def __init__(self) -> None:
        self.errors: dict[str, ServiceError] = {}
        self.checked: Counter[str] = Counter()
        self.calls = OpenCalls(self._readmit, VirtualClock(pinned=NOON))

    async def _readmit(self, call: Call) -> None:
        subject = call.principal.subject
        self.checked[subject] += 1
        if subject in self.errors:
            raise self.errors[subject]

    def call(self, subject: str, expires_at: datetime | None = None) -> Call:
        principal = Principal(
            subject,
            frozenset(),
            frozenset(),
            depends_on=frozenset({subject, f"token of {subject}"}),
            expires_at=expires_at,
        )
        return Call(POLICY, pb.ActivateJobsRequest(), {}, principal=principal, open_calls=self.calls)

    async def wait(self, subject: str, expires_at: datetime | None = None) -> None:
        async with self.calls.watched(self.call(subject, expires_at)):
            await asyncio.Event().wait()

    @asynccontextmanager
    async def waiting(self, *subjects: str) -> AsyncIterator[list["asyncio.Task[None]"]]:
        tasks = [asyncio.ensure_future(self.wait(subject)) for subject in subjects]
        await until(lambda: len(self.calls) == len(subjects))
        yield tasks
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@pytest.fixture
async def world() -> AsyncIterator[World]:
    world = World()
    running = asyncio.ensure_future(world.calls.run())
    yield world
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


async def test_a_call_whose_credential_was_revoked_ends(world: World) -> None:
    async with world.waiting("ada") as [call]:
        world.errors["ada"] = REVOKED

        world.calls.check(frozenset({"token of ada"}))

        with pytest.raises(Unauthenticated, match="the token was revoked"):
            await call


async def test_a_call_whose_caller_may_still_make_it_goes_on(world: World) -> None:
    async with world.waiting("ada") as [call]:
        world.calls.check(frozenset({"ada"}))

        await until(lambda: world.checked["ada"])
        assert not call.done()


async def test_only_calls_that_a_change_affects_are_checked(world: World) -> None:
    async with world.waiting("ada", "grace", "ada"):
        world.calls.check(frozenset({"ada"}))
        await until(lambda: world.checked["ada"] == 2)
        world.calls.check(frozenset())

        await until(lambda: world.checked["grace"])
        assert world.checked == {"ada": 4, "grace": 1}


async def test_a_check_without_an_answer_is_repeated(world: World) -> None:
    async with world.waiting("ada") as [call]:
        world.errors["ada"] = Unavailable("the provider is away")
        world.calls.check(frozenset({"ada"}))
        await until(lambda: world.checked["ada"])
        is_open = not call.done()
        world.errors["ada"] = REVOKED

        with pytest.raises(Unauthenticated):
            await call
        assert is_open


async def test_a_call_ends_when_its_token_expires(world: World) -> None:
    with pytest.raises(Unauthenticated, match="the token is expired"):
        await world.wait("ada", NOON + timedelta(milliseconds=1))


async def test_the_end_of_a_caller_who_disconnects_is_no_refusal(world: World) -> None:
    async with world.waiting("ada") as [call]:
        call.cancel()

        with pytest.raises(asyncio.CancelledError):
            await call
        assert len(world.calls) == 0


async def test_a_call_that_waits_later_is_checked_first(world: World) -> None:
    world.errors["ada"] = REVOKED

    with pytest.raises(Unauthenticated, match="the token was revoked"):
        await world.call("ada").waiting()


async def test_an_error_of_the_call_itself_passes(world: World) -> None:
    with pytest.raises(TimeoutError, match="its own"):
        async with world.calls.watched(world.call("ada")):
            raise TimeoutError("its own")
