from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from server.feel import FailureType, Ports, Value, compile_expression


def value_of(text: str, **variables: Value) -> Value:
    return compile_expression(text).evaluate(variables).value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("date(2024, 2, 29)", "2024-02-29"),
        ("date(day: 29, month: 2, year: 2024)", "2024-02-29"),
        ('date(@"2024-02-29T10:00:00@Europe/Paris")', "2024-02-29"),
        ('date(from: "2024-02-29")', "2024-02-29"),
        ("date(2023, 2, 29)", None),
        ("date(2024, 2.5, 1)", "2024-02-01"),
        ("date(-3.75, 4, 3)", "-0003-04-03"),
        ("date(4294967297, 1, 1)", None),
        ("time(1.5, 2.5, 3)", "01:02:03"),
        ("date(null)", None),
        ("time(10, 20, 30)", "10:20:30"),
        ("time(10, 20, 30.25)", "10:20:30.25"),
        ('time(10, 20, 30, duration("-PT2H"))', "10:20:30-02:00"),
        ("time(10, 20, 30, null)", "10:20:30"),
        ('time(10, 20, 30, duration("PT20H"))', None),
        ("time(24, 0, 0)", None),
        ('time(@"2024-02-29T10:00:00@Europe/Paris")', "10:00:00@Europe/Paris"),
        ('time(@"2024-02-29")', "00:00:00Z"),
        ('date and time("2024-02-29")', "2024-02-29T00:00:00"),
        ('date and time(@"2024-02-29")', "2024-02-29T00:00:00"),
        ('time(10, 0, 0, @"PT0.5S")', None),
        ('date and time(@"2024-02-29", @"10:00:00+01:00")', "2024-02-29T10:00:00+01:00"),
        ('date and time(@"2024-07-01", @"10:00:00@Europe/Paris").time offset', "PT2H"),
        ('date and time(@"2024-02-29T10:00:00", "Asia/Tokyo")', "2024-02-29T10:00:00@Asia/Tokyo"),
        ('date and time(@"2024-02-29T10:00:00Z", "Asia/Tokyo")', "2024-02-29T19:00:00@Asia/Tokyo"),
        ('date and time(@"2024-02-29T10:00:00Z", "nowhere")', None),
        ('duration("P1DT25H")', "P2DT1H"),
        ('duration("later")', None),
        ('years and months duration(@"2020-02-29", @"2021-02-28")', "P11M"),
        ('years and months duration(@"2021-02-28", @"2020-02-29")', "-P11M"),
        ('years and months duration(from: @"2020-01-31T23:00:00", to: @"2022-01-31")', "P2Y"),
        ('abs(@"-PT5H")', "PT5H"),
        ('abs(@"-P2M")', "P2M"),
        ('last day of month(@"2023-02-10T10:00:00")', "2023-02-28"),
    ],
)
def test_temporal_values_are_made(text: str, expected: str | None) -> None:
    assert expected == value_of(f"string({text})")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('day of week(@"2024-02-29")', "Thursday"),
        ('day of year(@"2024-12-31")', 366),
        ('week of year(@"2005-01-01")', 53),
        ('week of year(@"2024-12-30")', 1),
        ('month of year(@"2024-12-30T10:00:00Z")', "December"),
        ('day of week("2024-02-29")', None),
    ],
)
def test_what_the_calendar_says(text: str, expected: Value) -> None:
    assert expected == value_of(text)


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        pytest.param(
            datetime(2024, 7, 1, 22, 30, tzinfo=UTC), ["2024-07-01T22:30:00Z", "2024-07-01"], id="utc"
        ),
        pytest.param(
            datetime(2024, 7, 1, 22, 30, 1, 500_000, tzinfo=ZoneInfo("Europe/Paris")),
            ["2024-07-01T22:30:01.5@Europe/Paris", "2024-07-01"],
            id="named zone",
        ),
    ],
)
def test_now_is_what_the_port_says(now: datetime, expected: list[Value]) -> None:
    expression = compile_expression("[string(now()), string(today())]")

    assert expected == expression.evaluate({}, Ports(now=now)).value


@pytest.mark.parametrize("text", ["now()", "today()", "uuid()", "random number()"])
def test_without_its_port_a_function_is_null(text: str) -> None:
    evaluation = compile_expression(text).evaluate({})

    assert evaluation.value is None
    assert evaluation.failures[0].type == FailureType.FUNCTION_INVOCATION_FAILURE


def test_uuid_is_of_the_time_and_of_chance() -> None:
    ports = Ports(now=datetime(2024, 7, 1, tzinfo=UTC), bits=lambda count: (1 << count) - 1)

    evaluation = compile_expression("[uuid(), random number()]").evaluate({}, ports)

    assert isinstance(evaluation.value, list)
    assert evaluation.value[0] == "01906b97-5c00-7fff-bfff-ffffffffffff"
    assert compile_expression("x >= 0 and x < 1").evaluate({"x": evaluation.value[1]}).value is True


@pytest.mark.parametrize(
    ("text", "ports"),
    [
        ("now()", Ports(now=datetime(2024, 7, 1))),  # noqa: DTZ001 - what a port must not be
        ("uuid()", Ports(bits=lambda count: count)),
    ],
)
def test_a_port_that_does_not_tell_enough_makes_null(text: str, ports: Ports) -> None:
    assert compile_expression(text).evaluate({}, ports).value is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('cycle(@"PT1H")', "R/PT1H"),
        ('cycle(3, duration("P1Y"))', "R3/P1Y"),
        ('cycle(null, @"PT1H")', "R/PT1H"),
        ('cycle("often", @"PT1H")', None),
        ("fromAi(toolCall.amount)", 7),
        ('fromAi(toolCall.amount, "how much", "number", {minimum: 1}, {required: true})', 7),
        ('fromAi(value: toolCall.amount, description: "how much")', 7),
    ],
)
def test_functions_that_the_engine_adds(text: str, expected: Value) -> None:
    assert expected == value_of(text, toolCall={"amount": 7})
