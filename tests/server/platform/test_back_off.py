import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.platform.back_off import BackOff, Pauses


@pytest.mark.parametrize(
    ("failures", "seconds"), [(1, 0.5), (2, 1.0), (3, 2.0), (4, 3.0), (5, 3.0), (1_000_000, 3.0)]
)
def test_pauses_double_up_to_the_longest(failures: int, seconds: float) -> None:
    assert seconds == BackOff(0.5, 3.0).seconds(failures, lambda: 0.0)


@pytest.mark.parametrize(("chance", "seconds"), [(0.0, 60.0), (0.5, 75.0), (0.999, 89.97)])
def test_chance_spreads_pauses(chance: float, seconds: float) -> None:
    assert seconds == pytest.approx(BackOff(60, 60, spread=0.5).seconds(7, lambda: chance))


@given(st.integers(1, 10**9))
def test_no_pause_is_beyond_its_bounds(failures: int) -> None:
    assert 1 <= BackOff(1, 8, spread=0.25).seconds(failures) < 10


async def test_pauses_are_short_again_after_a_success() -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    pauses = Pauses(BackOff(1, 8, spread=0.0), sleep)
    for _ in range(3):
        await pauses.after_failure()
    pauses.succeeded()
    await pauses.after_failure()

    assert slept == [1, 2, 4, 1]
