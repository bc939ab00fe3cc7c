import pytest

from server.feel import Value, compile_expression


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("not(true)", False),
        ("not(null)", None),
        ("is defined(1)", True),
        ("is defined(unknown)", False),
        ("get or else(null, 1)", 1),
        ("get or else(false, 1)", False),
        ("assert(1, true)", 1),
        ("assert(value: 1, condition: 1 < 2, cause: null)", None),
        ("is(1, 1.0)", True),
        ('is(1, "1")', False),
        ("is(1, true)", False),
        ("is(null, null)", True),
        ("is(value1: 1)", False),
        ('is(@"10:00:00Z", @"10:00:00+00:00")', True),
        ('is(@"10:00:00Z", @"11:00:00+01:00")', False),
        ('is(@"10:00:00@Europe/Paris", @"10:00:00+01:00")', False),
        ('is(@"P1D", @"PT24H")', True),
        ('is(@"P0D", @"P0Y")', False),
    ],
)
def test_functions_on_truth(text: str, expected: Value) -> None:
    assert repr(expected) == repr(compile_expression(text).evaluate({}).value)
