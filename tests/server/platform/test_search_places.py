"""Places for searches: bounds of tenants and users, turns, and refusals."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from gnomon.engine.v1 import variable_service_pb2 as pb
from server.platform.call import Call, Principal, TenantId
from server.platform.errors import QuotaExhausted
from server.platform.policy import policies_of
from server.platform.search_places import SearchesConfig, SearchPlaces
from tests.waits import ticks, until

POLICY = policies_of(pb.DESCRIPTOR.services_by_name["VariableService"])[
    "/gnomon.engine.v1.VariableService/SearchVariables"
]


class Searching:
    """Searches that run until they are ended; `begun` has each that has a place, in their order."""

    def __init__(self, config: SearchesConfig) -> None:
        self.begun: list[str] = []
        self.tasks: list[asyncio.Task[None]] = []
        self._places = SearchPlaces(config)
        self._ends: dict[str, asyncio.Event] = {}

    def begin(self, name: str, user: str = "ann", tenant: str = "default") -> "asyncio.Task[None]":
        self._ends[name] = asyncio.Event()
        task = asyncio.ensure_future(self._run(name, user, tenant))
        self.tasks.append(task)
        return task

    async def _run(self, name: str, user: str, tenant: str) -> None:
        principal = Principal(user, frozenset(), frozenset())
        call = Call(POLICY, pb.SearchVariablesRequest(), {}, principal=principal, tenant_id=TenantId(tenant))
        async with self._places.place(call):
            self.begun.append(name)
            await self._ends[name].wait()

    def end(self, *names: str) -> None:
        """End these searches, or all."""
        for name in names or self._ends:
            self._ends[name].set()


@asynccontextmanager
async def searching(config: SearchesConfig) -> AsyncIterator[Searching]:
    found = Searching(config)
    yield found
    found.end()
    await asyncio.wait(found.tasks)


async def test_a_user_has_a_bounded_number_of_places() -> None:
    async with searching(SearchesConfig(max_user_running=2)) as searches:
        for name in ("a1", "a2", "a3"):
            searches.begin(name)
        searches.begin("b1", user="bob")
        await ticks(10)

        assert searches.begun == ["a1", "a2", "b1"]
        searches.end("a1")
        await until(lambda: searches.begun == ["a1", "a2", "b1", "a3"])


async def test_a_tenant_has_a_bounded_number_of_places() -> None:
    async with searching(SearchesConfig(max_tenant_running=2, max_user_running=2)) as searches:
        for number in range(3):
            searches.begin(f"a{number}", user=f"user {number}")
        searches.begin("b", tenant="other")
        await ticks(10)

        assert searches.begun == ["a0", "a1", "b"]


async def test_tenants_take_turns_at_the_places_of_a_process() -> None:
    async with searching(SearchesConfig(max_running=1)) as searches:
        for name in ("a1", "a2", "a3"):
            searches.begin(name)
        searches.begin("b1", tenant="other")
        await ticks(10)

        for name in ("a1", "a2", "b1"):
            searches.end(name)
            await ticks(10)

        assert searches.begun == ["a1", "a2", "b1", "a3"]


async def test_a_search_of_another_user_passes_those_that_have_no_place_yet() -> None:
    async with searching(SearchesConfig(max_tenant_running=2, max_user_running=1)) as searches:
        for name in ("a1", "a2"):
            searches.begin(name)
        searches.begin("b1", user="bob")
        await ticks(10)

        assert searches.begun == ["a1", "b1"]


async def test_a_search_that_waits_too_long_is_refused_and_says_when_to_repeat_it() -> None:
    async with searching(SearchesConfig(max_user_running=1, wait_seconds=0)) as searches:
        searches.begin("a1")
        await ticks(10)

        second = searches.begin("a2")
        await asyncio.wait([second])

        refusal = second.exception()
        assert isinstance(refusal, QuotaExhausted)
        assert (refusal.problem.status, refusal.metadata) == (429, {"retry_after_secs": "1"})


async def test_only_a_bounded_number_of_searches_waits() -> None:
    async with searching(SearchesConfig(max_user_running=1, max_tenant_waiting=1)) as searches:
        searches.begin("a1")
        searches.begin("a2")
        await ticks(10)

        third = searches.begin("a3")
        await asyncio.wait([third])

        assert isinstance(third.exception(), QuotaExhausted)


async def test_a_caller_that_goes_away_leaves_its_place_in_the_line() -> None:
    async with searching(SearchesConfig(max_user_running=1)) as searches:
        searches.begin("a1")
        gone = searches.begin("a2")
        searches.begin("a3")
        await ticks(10)

        gone.cancel()
        searches.end("a1")

        await until(lambda: searches.begun == ["a1", "a3"])


async def test_a_place_that_comes_to_a_caller_that_has_just_gone_is_free_for_the_next() -> None:
    async with searching(SearchesConfig(max_user_running=1)) as searches:
        first = searches.begin("a1")
        gone = searches.begin("a2")
        await ticks(10)

        searches.end("a1")
        await until(first.done)
        gone.cancel()
        await asyncio.wait([gone])
        searches.begin("a3")

        await until(lambda: searches.begun[-1] == "a3")


@pytest.mark.parametrize("name", ["max_running", "max_tenant_running", "max_user_running"])
def test_no_place_at_all_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name}: expected at least 1"):
        SearchesConfig(**{name: 0})
