from datetime import UTC, datetime, timedelta, timezone
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.bpmn.cron import Cron, MalformedCron, cron, is_cron

# A Thursday.
NEW_YEAR = datetime(2026, 1, 1, tzinfo=UTC)
END_OF_TIME = datetime.max.replace(tzinfo=UTC)


def times(expression: Cron, count: int, after: datetime = NEW_YEAR) -> list[str]:
    """The next times, in the fewest words."""
    found = []
    for _ in range(count):
        after = expression.after(after)
        found.append(after.strftime("%Y-%m-%d %H:%M:%S"))
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("* * * * * *", ["2026-01-01 00:00:01", "2026-01-01 00:00:02"]),
        ("0 0 9 * * *", ["2026-01-01 09:00:00", "2026-01-02 09:00:00"]),
        ("*/15 * * * * *", ["2026-01-01 00:00:15", "2026-01-01 00:00:30", "2026-01-01 00:00:45"]),
        ("0 5/20 * * * *", ["2026-01-01 00:05:00", "2026-01-01 00:25:00", "2026-01-01 00:45:00"]),
        ("0 0 8-10/2,22 * * *", ["2026-01-01 08:00:00", "2026-01-01 10:00:00", "2026-01-01 22:00:00"]),
        ("0 0 0 25 12 ?", ["2026-12-25 00:00:00", "2027-12-25 00:00:00"]),
        ("0 0 0 ? jan-MAR mon", ["2026-01-05 00:00:00", "2026-01-12 00:00:00"]),
        ("0 30 6 * * MON-FRI", ["2026-01-01 06:30:00", "2026-01-02 06:30:00", "2026-01-05 06:30:00"]),
        ("0 0 0 * * SAT-SUN", ["2026-01-03 00:00:00", "2026-01-04 00:00:00", "2026-01-10 00:00:00"]),
        ("0 0 0 * * 0", ["2026-01-04 00:00:00", "2026-01-11 00:00:00"]),
        ("0 0 0 * * 7", ["2026-01-04 00:00:00", "2026-01-11 00:00:00"]),
        ("0 0 0 13 * FRI", ["2026-02-13 00:00:00", "2026-03-13 00:00:00", "2026-11-13 00:00:00"]),
        ("0 0 0 31 * *", ["2026-01-31 00:00:00", "2026-03-31 00:00:00"]),
        ("0 0 0 L * *", ["2026-01-31 00:00:00", "2026-02-28 00:00:00"]),
        ("0 0 0 L-3 * *", ["2026-01-28 00:00:00", "2026-02-25 00:00:00", "2026-03-28 00:00:00"]),
        ("0 0 0 L-30,2 * *", ["2026-01-02 00:00:00", "2026-02-02 00:00:00", "2026-03-01 00:00:00"]),
        ("0 0 0 15W * *", ["2026-01-15 00:00:00", "2026-02-16 00:00:00", "2026-03-16 00:00:00"]),
        ("0 0 0 15W 8 *", ["2026-08-14 00:00:00", "2027-08-16 00:00:00"]),
        ("0 0 0 1W 2,8 *", ["2026-02-02 00:00:00", "2026-08-03 00:00:00"]),
        ("0 0 0 31W * *", ["2026-01-30 00:00:00", "2026-03-31 00:00:00", "2026-05-29 00:00:00"]),
        ("0 0 0 LW * *", ["2026-01-30 00:00:00", "2026-02-27 00:00:00", "2026-03-31 00:00:00"]),
        ("0 0 0 29 2 *", ["2028-02-29 00:00:00", "2032-02-29 00:00:00"]),
        ("0 0 0 29 2 TUE", ["2028-02-29 00:00:00", "2056-02-29 00:00:00"]),
        ("0 0 0 * * 5L", ["2026-01-30 00:00:00", "2026-02-27 00:00:00"]),
        ("0 0 0 * * MON#2", ["2026-01-12 00:00:00", "2026-02-09 00:00:00"]),
        ("0 0 0 * * 1#5", ["2026-03-30 00:00:00", "2026-06-29 00:00:00"]),
        ("@yearly", ["2027-01-01 00:00:00"]),
        ("@annually", ["2027-01-01 00:00:00"]),
        ("@monthly", ["2026-02-01 00:00:00"]),
        ("@weekly", ["2026-01-04 00:00:00"]),
        ("@daily", ["2026-01-02 00:00:00"]),
        ("@midnight", ["2026-01-02 00:00:00"]),
        ("@Hourly", ["2026-01-01 01:00:00"]),
    ],
)
def test_a_cron_expression_names_times(text: str, expected: list[str]) -> None:
    assert times(cron(text), len(expected)) == expected


@pytest.mark.parametrize(
    "text",
    [
        *("", "* * * * *", "* * * * * * *", "60 * * * * *", "* * 24 * * *", "* * * 0 * *", "* * * 32 * *"),
        *("* * * * 13 *", "* * * * * 8", "* * * * FOO *", "* * * * * MON#6", "* * * * * #1", "* * * * * L"),
        *("5-1 * * * * *", "*/0 * * * * *", "*-5 * * * * *", "? * * * * *", "-1 * * * * *", "1,,2 * * * * *"),
        *(
            "* * * 0W * *",
            "* * * 32W * *",
            "* * * W * *",
            "* * * 1-5W * *",
            "* * * L-31 * *",
            "* * * L-3W * *",
            "* * * * * 3W",
            "* * L-1 * * *",
            "@never",
            "* * * * * FRI-MON",
            "\u0661 * * * * *",
            "1/100 * * * * *",
        ),
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(MalformedCron, match="expected a"):
        cron(text)


def test_a_day_that_never_comes_is_the_end_of_time() -> None:
    assert cron("0 0 0 30 2 *").after(NEW_YEAR) == END_OF_TIME
    assert cron("0 0 0 * * *").after(END_OF_TIME) == END_OF_TIME


def test_times_are_those_of_utc_whatever_the_offset_of_the_instant() -> None:
    instant = NEW_YEAR.astimezone(timezone(timedelta(hours=5)))

    assert cron("0 0 1 * * *").after(instant) == NEW_YEAR + timedelta(hours=1)


@pytest.mark.parametrize("text", ["PT1H", "R3/PT1H", "R/2030-01-01T00:00:00Z/PT1H", ""])
def test_an_interval_is_no_cron_expression(text: str) -> None:
    assert not is_cron(text)


def _field(lowest: int, highest: int) -> st.SearchStrategy[str]:
    numbers = st.integers(lowest, highest)
    ranges = st.tuples(numbers, numbers).map(lambda pair: f"{min(pair)}-{max(pair)}")
    steps = st.builds("{}/{}".format, st.just("*") | ranges, st.integers(1, 20))
    return st.lists(st.just("*") | numbers.map(str) | ranges | steps, min_size=1, max_size=2).map(",".join)


expressions = st.tuples(
    _field(0, 59), _field(0, 59), _field(0, 23), _field(1, 28), _field(1, 12), _field(0, 7)
)


@given(expressions.map(" ".join), st.integers(-(10**9), 10**9))
def test_the_next_time_is_later_and_fits_and_none_between_does(text: str, seconds: int) -> None:
    """Between them, some times are tried."""
    expression, instant = cron(text), NEW_YEAR + timedelta(seconds=seconds)

    found = expression.after(instant)

    assert found > instant
    if found == END_OF_TIME:
        return
    assert expression.after(found - timedelta(seconds=1)) == found
    step = (found - instant) / 7
    between = (instant + number * step for number in range(7))
    assert {expression.after(each) for each in islice(between, 7)} == {found}
