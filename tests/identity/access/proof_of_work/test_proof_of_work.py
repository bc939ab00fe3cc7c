import asyncio
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from identity.access.proof_of_work.challenge import parse
from identity.access.proof_of_work.config import ProofOfWorkConfig
from identity.access.proof_of_work.proof_of_work import ProofOfWork
from identity.foundation.single_use import SingleUse
from server.platform.clock import VirtualClock
from server.platform.errors import NotFound, PermissionDenied
from server.platform.records.memory import MemoryRecordStore
from tests.identity.browsers import NOON, CountedRandomness, Provider, solved

# Solved by the reference implementation.
VECTOR = "1:20:1702684559:OyYuEP70pUiTa3NK:KLk3tEG+Kn79ROObaRMLptwWzYs4OFSfm0FACdAgQ9g:79715"


@pytest.fixture
def provider() -> Provider:
    return Provider()


def test_a_known_solution_has_the_bits_that_its_challenge_asks_for() -> None:
    solution = parse(VECTOR)

    assert solution is not None
    assert (
        solution.challenge.difficulty,
        solution.challenge.expiry,
        solution.challenge.salt,
    ) == (20, 1702684559, "OyYuEP70pUiTa3NK")
    assert solution.leading_zero_bits == 20


def test_a_challenge_says_its_difficulty_and_when_it_expires(provider: Provider) -> None:
    challenge = provider.proof_of_work.challenge(provider.tenant)

    version, difficulty, expiry, salt, signature, rest = challenge.split(":")
    assert ("1", "10", str(int(NOON.timestamp()) + 30), "") == (version, difficulty, expiry, rest)
    assert (len(salt), len(signature)) == (16, 43)


async def test_a_solution_is_good_once(provider: Provider) -> None:
    solution = provider.solution()

    await provider.proof_of_work.spend(provider.tenant, solution)

    with pytest.raises(NotFound):
        await provider.proof_of_work.spend(provider.tenant, solution)


async def test_another_solution_of_a_spent_challenge_is_no_good(provider: Provider) -> None:
    first = provider.solution()
    await provider.proof_of_work.spend(provider.tenant, first)

    with pytest.raises(NotFound):
        await provider.proof_of_work.spend(provider.tenant, _next_solution(first))


async def test_of_a_hundred_spends_at_a_time_one_succeeds(provider: Provider) -> None:
    solution = provider.solution()

    outcomes = await asyncio.gather(
        *(provider.proof_of_work.spend(provider.tenant, solution) for _ in range(100)),
        return_exceptions=True,
    )

    assert outcomes.count(None) == 1
    assert sum(isinstance(outcome, NotFound) for outcome in outcomes) == 99


async def test_a_wrong_counter_does_not_use_the_challenge_up(provider: Provider) -> None:
    challenge = provider.proof_of_work.challenge(provider.tenant)
    wrong = next(text for counter in range(100) if not _is_good(text := f"{challenge}{counter}"))
    with pytest.raises(PermissionDenied):
        await provider.proof_of_work.spend(provider.tenant, wrong)

    await provider.proof_of_work.spend(provider.tenant, solved(challenge))


async def test_a_solution_is_good_until_its_last_second_and_not_later(provider: Provider) -> None:
    first, second = provider.solution(), provider.solution()

    provider.clock.advance(timedelta(seconds=30))
    await provider.proof_of_work.spend(provider.tenant, first)
    provider.clock.advance(timedelta(milliseconds=500))

    for solution in (first, second):
        with pytest.raises((PermissionDenied, NotFound)):
            await provider.proof_of_work.spend(provider.tenant, solution)


async def test_what_was_solved_for_one_tenant_is_no_good_at_another(provider: Provider) -> None:
    with pytest.raises(PermissionDenied):
        await provider.proof_of_work.spend(provider.tenants.find("acme"), provider.solution())


async def test_another_providers_challenge_is_no_good(provider: Provider) -> None:
    clock = VirtualClock(pinned=NOON)
    other = ProofOfWork(
        SingleUse(MemoryRecordStore(clock)),
        b"another secret",
        clock=clock,
        randomness=CountedRandomness(),
        config=ProofOfWorkConfig(difficulty=10),
    )

    with pytest.raises(PermissionDenied):
        await provider.proof_of_work.spend(provider.tenant, solved(other.challenge(provider.tenant)))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="nothing"),
        pytest.param("1:10", id="too short"),
        pytest.param(VECTOR.replace("1:20", "2:20", 1), id="another version"),
        pytest.param(VECTOR.replace(":20:", ":09:"), id="too easy"),
        pytest.param(VECTOR.rpartition(":")[0] + ":", id="no counter"),
        pytest.param(VECTOR + "x", id="counter that is no number"),
        pytest.param(VECTOR + "\n", id="line end"),
        pytest.param(VECTOR + "9" * 20, id="counter that is too long"),
    ],
)
def test_a_text_of_another_form_is_no_solution(text: str) -> None:
    assert parse(text) is None


@given(st.text(max_size=300))
def test_whatever_else_is_sent_is_no_solution(text: str) -> None:
    assert parse(text) is None


def _is_good(text: str) -> bool:
    solution = parse(text)
    return solution is not None and solution.leading_zero_bits >= solution.challenge.difficulty


def _next_solution(text: str) -> str:
    challenge, _, counter = text.rpartition(":")
    candidates = (f"{challenge}:{number}" for number in range(int(counter) + 1, int(counter) + 100_000))
    return next(candidate for candidate in candidates if _is_good(candidate))
