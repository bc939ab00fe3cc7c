from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

from hypothesis import assume, given
from hypothesis import strategies as st

from server.feel import Date, DateTime, DaysDuration, MonthsDuration, Time, Value, Zone, compile_expression
from server.feel.temporal import calendar, parser, zones
from server.feel.temporal.formatter import written
from server.feel.temporal.values import DAY, SECOND, Temporal

EPOCH_DAYS = st.integers(-365_242_000_000, 365_241_000_000)
DATES = EPOCH_DAYS.map(Date.of_epoch_day)
NAMES = st.sampled_from(
    ["Europe/Paris", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "Etc/UTC"]
)
ZONES = st.none() | st.integers(-64_800, 64_800).map(Zone) | NAMES.map(zones.zone_of)
TIMES = st.builds(Time, st.integers(0, DAY - 1), ZONES)
DATE_TIMES = st.builds(lambda day, time: zones.placed(day, time, time.zone), DATES, TIMES)
DAYS = st.integers(-(10**24), 10**24).map(DaysDuration)
MONTHS = st.integers(-(10**9), 10**9).map(MonthsDuration)
TEMPORAL = st.one_of(DATES, TIMES, DATE_TIMES, DAYS, MONTHS)


def result_of(text: str, **variables: Value) -> Value:
    return compile_expression(text).evaluate(variables).value


@given(TEMPORAL)
def test_a_temporal_value_is_read_as_it_is_written(value: Temporal) -> None:
    again = parser.literal(written(value))

    assert written(value) == written(again)
    assert type(value) is type(again)


@given(st.dates())
def test_the_calendar_agrees_with_pythons(day: date) -> None:
    parts = (day.year, day.month, day.day)
    number = calendar.epoch_day(*parts)

    assert parts == calendar.civil(number)
    assert day.isoweekday() == calendar.weekday(number)
    assert day.isocalendar().week == calendar.week_of_year(*parts)
    assert day.timetuple().tm_yday == calendar.day_of_year(*parts)


@given(EPOCH_DAYS)
def test_days_are_counted_as_far_as_dates_reach(number: int) -> None:
    assert number == Date.of_epoch_day(number).epoch_day


@given(st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1)), NAMES)  # noqa: DTZ001 - local times
def test_an_instant_has_the_time_that_python_gives_it(moment: datetime, name: str) -> None:
    seconds = (moment.replace(microsecond=0, tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(
        seconds=1
    )

    there = zones.at(seconds * SECOND, zones.zone_of(name))

    expected = datetime.fromtimestamp(seconds, ZoneInfo(name))
    assert expected.strftime("%Y-%m-%dT%H:%M:%S") == written(there).split("@")[0].removesuffix("Z")


@given(DATE_TIMES)
def test_a_date_time_is_where_its_instant_is(value: DateTime) -> None:
    assert value.in_utc == zones.at(value.in_utc, value.zone).in_utc


@given(DATES, st.integers(-(10**6), 10**6))
def test_days_that_are_added_are_the_difference(day: Date, count: int) -> None:
    expect_difference(day, DaysDuration(count * DAY))


@given(DATE_TIMES, st.integers(-(10**18), 10**18).map(DaysDuration))
def test_time_that_is_added_is_the_difference(value: DateTime, duration: DaysDuration) -> None:
    expect_difference(value, duration)


def expect_difference(value: Date | DateTime, duration: DaysDuration) -> None:
    later = result_of("x + d", x=value, d=duration)
    assume(later is not None)  # what lies beyond the last date is null
    assert result_of("y - x = d", x=value, y=later, d=duration) is True


@given(DATES | DATE_TIMES, st.integers(1, 10**6))
def test_what_is_added_leads_further(value: Date | DateTime, count: int) -> None:
    further = result_of("x + n", x=value, n=DaysDuration(count * DAY))
    back = result_of("x - n", x=value, n=DaysDuration(count * DAY))

    assert result_of("x < y", x=value, y=further) in {True, None}
    assert result_of("x > y", x=value, y=back) in {True, None}


@given(st.one_of([st.tuples(kind, kind, kind) for kind in (DATES, DATE_TIMES, DAYS, MONTHS)]))
def test_order_is_transitive(values: tuple[Temporal, Temporal, Temporal]) -> None:
    a, b, c = values

    holds = [result_of(text, a=a, b=b, c=c) for text in ("a <= b", "b <= c", "a <= c")]

    assert holds[2] is not False or holds[:2] != [True, True]


@given(TIMES, DAYS)
def test_a_time_goes_round(time: Time, duration: DaysDuration) -> None:
    assert time == result_of("t + d - d", t=time, d=duration)


@given(DATES, MONTHS)
def test_months_keep_the_day_or_take_the_last(day: Date, months: MonthsDuration) -> None:
    moved = result_of("d + m", d=day, m=months)

    if isinstance(moved, Date):
        assert moved.day == min(day.day, calendar.days_in_month(moved.year, moved.month))


@given(DAYS, DAYS, st.integers(-1000, 1000))
def test_durations_add_up(one: DaysDuration, other: DaysDuration, factor: int) -> None:
    assert result_of("a + b = b + a and a - b = -(b - a)", a=one, b=other) is True
    assert result_of("(a + b) * n", a=one, b=other, n=factor) == result_of(
        "a * n + b * n", a=one, b=other, n=factor
    )


@given(st.one_of([st.tuples(kind, kind) for kind in (DATES, TIMES, DATE_TIMES, DAYS, MONTHS)]))
def test_at_most_one_order_holds(pair: tuple[Temporal, Temporal]) -> None:
    one, other = pair

    holds = [result_of(text, a=one, b=other) for text in ("a < b", "a > b", "b < a", "b > a")]

    assert holds == [holds[0], holds[1], holds[1], holds[0]]
    assert holds in ([None] * 4, [False] * 4, [True, False, False, True], [False, True, True, False])


@given(DATES, DATES)
def test_months_between_two_days_lead_no_further_than_to_the_second(start: Date, end: Date) -> None:
    between = result_of("years and months duration(a, b)", a=start, b=end)
    moved = result_of("a + m", a=start, m=between)

    if isinstance(moved, Date):
        assert moved <= end if start <= end else moved >= end
