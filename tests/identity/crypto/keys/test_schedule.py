from datetime import datetime

import pytest

from identity.config import LifetimesConfig
from identity.crypto.keys.schedule import Schedule


@pytest.mark.parametrize(
    ("expression", "instant", "due"),
    [
        pytest.param("0 30 3 1 * * *", "2030-01-01T12:00", "2030-02-01T03:30", id="seven fields"),
        pytest.param("0 30 3 1 * *", "2030-01-01T12:00", "2030-02-01T03:30", id="six fields"),
        pytest.param("30 3 1 * *", "2030-01-01T12:00", "2030-02-01T03:30", id="five fields"),
        pytest.param("0 30 3 1 * * *", "2030-02-01T03:30", "2030-03-01T03:30", id="not at the time itself"),
        pytest.param("15 30 3 * * * *", "2030-01-01T12:00", "2030-01-02T03:30:15", id="seconds"),
        pytest.param("0 0 0 31 * * *", "2030-01-31T12:00", "2030-03-31T00:00", id="the 31st"),
        pytest.param("0 0 0 29 2 * *", "2030-01-01T00:00", "2032-02-29T00:00", id="leap day"),
        pytest.param("0 30 2 * * * *", "2030-03-31T00:00", "2030-03-31T02:30", id="no summer time in UTC"),
        pytest.param("0 0 0 * * 0 *", "2030-01-01T12:00", "2030-01-06T00:00", id="Sunday"),
        pytest.param("0 0 0 1 1 * 2033", "2030-01-01T12:00", "2033-01-01T00:00", id="year"),
        pytest.param("0 0 0 1 1 * 2029", "2030-01-01T12:00", None, id="a year that was"),
        pytest.param("0 0 0 30 2 * *", "2030-01-01T12:00", None, id="no such day"),
    ],
)
def test_the_next_time_is_told(expression: str, instant: str, due: str | None) -> None:
    found = Schedule(expression).next_after(datetime.fromisoformat(f"{instant}+00:00"))

    assert (datetime.fromisoformat(f"{due}+00:00") if due else None) == found


@pytest.mark.parametrize(
    "expression", ["", "x", "* * * *", "* * * * * * * *", "61 * * * *", "0 0 0 32 * * *"]
)
def test_what_is_no_schedule_is_refused_at_the_start(expression: str) -> None:
    with pytest.raises(
        ValueError, match="jwk_autorotate_cron: expected a cron expression of 5, 6 or 7 fields"
    ):
        LifetimesConfig(jwk_autorotate_cron=expression)
