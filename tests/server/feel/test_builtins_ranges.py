import pytest

from server.feel import Range, Value, compile_expression


def value_of(text: str, **variables: Value) -> Value:
    return compile_expression(text).evaluate(variables).value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("before(1, 2)", True),
        ("before(1, (1..2])", True),
        ("before([1..2), 2)", True),
        ("before([1..2), [2..3])", True),
        ("before([1..2], [2..3])", False),
        ("before(point: 1, range: [1..2])", False),
        ("before(1, true)", None),
        ('before(1, [@"P1D"..@"P2D"])', None),
        ("after(3, [1..2])", True),
        ("after([3..4], 2)", True),
        ("after((2..4], [1..2])", True),
        ("after(2, 1)", True),
        ("meets([1..2], [2..3])", True),
        ("meets([1..2), [2..3])", False),
        ("met by([2..3], [1..2])", True),
        ("overlaps([1..3], [2..4])", True),
        ("overlaps([1..2), [2..4])", False),
        ("overlaps before([1..3], [2..4])", True),
        ("overlaps before([1..5], [2..4])", False),
        ("overlaps after([2..4], [1..3])", True),
        ("finishes(4, [1..4])", True),
        ("finishes([2..4], [1..4])", True),
        ("finished by([1..4], [2..4])", True),
        ("finished by([1..4), 4)", False),
        ("includes([1..4], 4)", True),
        ("includes([1..4), 4)", False),
        ("includes([1..4], [2..3])", True),
        ("includes((1..4], [1..3])", False),
        ("during(2, [1..4])", True),
        ("during([2..3], [1..4])", True),
        ("starts(1, [1..4])", True),
        ("starts([1..2], [1..4])", True),
        ("started by([1..4], [1..2])", True),
        ("started by((1..4], 1)", False),
        ("coincides(1, 1)", True),
        ("coincides([1..2], [1..2])", True),
        ("coincides([1..2], [1..2))", False),
        ('coincides(@"10:00:00Z", @"11:00:00+01:00")', True),
        ("overlaps([1..3], 2)", None),
        ("includes((> 5), 7)", True),
        ("includes((> 5), [1..7])", False),
        ("before((<= 5), 6)", True),
        ("overlaps((< 5), (> 7))", False),
        ("overlaps((< 5), (> 3))", True),
        ("during((< 3), (< 5))", True),
        ("during((< 5), (< 3))", False),
        ("finishes((> 5), (> 3))", True),
        ("coincides((> 5), (> 5))", True),
    ],
)
def test_points_and_ranges_lie_to_each_other(text: str, expected: Value) -> None:
    assert expected is value_of(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('range("[1..5]") = [1..5]', True),
        ('range(" ( \\"a\\" .. \\"b\\" [ ").end', "b"),
        ('3 in range("[1..5)")', True),
        ('range("[date(\\"2024-01-01\\")..@\\"2024-01-31\\"]").end.day', 31),
        ('range("[-5..-1]").start', -5),
        ('range("[5..1]")', None),
        ('range("[1..x]")', None),
        ('range("[1..")', None),
        ('range("1")', None),
        ('range("[null..1]")', None),
        ('range("[1..@\\"P1D\\"]")', None),
        ("[1..5).start included", True),
        ("[1..5).end included", False),
        ("(> 5).start", 5),
        ("(> 5).end", None),
        ("7 in [(> 5), 1]", True),
        ("string([(> 5), (<= 7), [1..2)])", "[(> 5), (<= 7), [1..2)]"),
        ("(= 5).start", 5),
        ("(= 5).end included", True),
        ("(= 5) = (= 5)", True),
        ("(= 5) = [5..5]", False),
        ("(!= 5) = (!= 5)", True),
        ("(!= 5) = (!= 6)", False),
        ("(!= 5) = (5..5)", False),
        ("(!= 5).start", 5),
        ("(!= 5).start included", False),
        ("[7 in [(!= 5)], 5 in [(!= 5)]]", [True, False]),
        ("{others: (!= 5), x: 7 in others}.x", True),
        ("(!= 5) instance of range<number>", True),
        ("string([(= 5), (!= 5)])", "[(= 5), (!= 5)]"),
        ("includes((= 5), 5)", True),
        ("includes((!= 5), 7)", None),
        ("before(1, (!= 5))", None),
    ],
)
def test_ranges_are_values(text: str, expected: Value) -> None:
    assert repr(expected) == repr(value_of(text))


@pytest.mark.parametrize("text", ["(< null)", "(> true)", "(!= null)", "[null..1]"])
def test_what_has_no_order_makes_no_range(text: str) -> None:
    assert compile_expression(text, dialect="standard").evaluate({}).value is None


def test_a_range_without_an_end_has_null_there() -> None:
    assert Range(None, 5, start_included=False, end_included=True) == value_of("(<= 5)")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("for x in [1..3] return x", [1, 2, 3]),
        ("for x in (1..3) return x", [2]),
        ("for x in (1..1] return x", []),
        ("for x in [1..3) return x", [1, 2]),
        ("for x in [0.5..2] return x + 0.5", [1, 2]),
        ('for d in @"2024-02-28"..@"2024-03-01" return d.day', [28, 29, 1]),
        ('for d in @"2024-03-01"..@"2024-02-28" return d.day', [1, 29, 28]),
        ('for d in [@"2024-02-28"..@"2024-03-01") return d.day', [28, 29]),
        ("some x in [1..3] satisfies x > 2", True),
        ('for x in ["a".."c"] return x', None),
        ('for x in @"10:00:00"..@"11:00:00" return x', None),
        ("for x in (> 5) return x", None),
        ("for x in (!= 5) return x", None),
    ],
)
def test_a_loop_goes_through_a_range(text: str, expected: Value) -> None:
    assert value_of("x = y", x=expected, y=value_of(text)) is True
