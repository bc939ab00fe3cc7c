import pytest

from server.feel import EvaluationError, Failure, FailureType, compile_expression


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("a", ("NO_VARIABLE_FOUND", "No variable found with name 'a'", 0), id="variable"),
        pytest.param(
            "{b: 1}.a",
            ("NO_CONTEXT_ENTRY_FOUND", "No context entry found with key 'a'. Available keys: 'b'", 6),
            id="entry",
        ),
        pytest.param(
            "null.a",
            ("NO_CONTEXT_ENTRY_FOUND", "No context entry found with key 'a'. The context is null", 4),
            id="entry of null",
        ),
        pytest.param(
            "(1).a", ("NO_PROPERTY_FOUND", "No property found with name 'a' of value '1'", 3), id="property"
        ),
        pytest.param("1 < true", ("NOT_COMPARABLE", "Can't compare '1' with 'true'", 2), id="comparison"),
        pytest.param("1 / 0", ("INVALID_TYPE", "Can't divide '1' by '0'", 2), id="division"),
        pytest.param('"a" - 1', ("INVALID_TYPE", "Can't subtract '1' from '\"a\"'", 4), id="subtraction"),
        pytest.param(
            "f(1)",
            ("NO_FUNCTION_FOUND", "No function found with name 'f' and 1 parameters", 0),
            id="function",
        ),
        pytest.param(
            "not(a: 1)",
            (
                "NO_FUNCTION_FOUND",
                "No function found with name 'not' and parameters: a. It is called as not(negand)",
                0,
            ),
            id="parameter",
        ),
        pytest.param(
            "count(1)",
            ("FUNCTION_INVOCATION_FAILURE", "Failed to invoke function 'count': Illegal arguments: '1'", 0),
            id="argument",
        ),
        pytest.param(
            "`{0}`", ("NO_VARIABLE_FOUND", "No variable found with name '{0}'", 0), id="name with braces"
        ),
    ],
)
def test_what_becomes_null_says_why(text: str, expected: tuple[str, str, int]) -> None:
    kind, message, position = expected

    evaluation = compile_expression(text).evaluate({})

    assert (None, (Failure(FailureType(kind), message, position),)) == (evaluation.value, evaluation.failures)


def test_an_index_that_is_tried_outside_of_the_filter_leaves_no_failure() -> None:
    assert compile_expression("[{a: true}][a]").evaluate({}).failures == ()


def test_a_long_value_is_cut_in_a_message() -> None:
    failure = compile_expression("xs - 1").evaluate({"xs": [*range(100_000)]}).failures[0]

    assert len(failure.message) < 1000


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param(
            "assert(1, 1 > 2)",
            "Assertion failure on evaluate the expression 'assert(1, 1 > 2)': The condition is not fulfilled",
            id="assert",
        ),
        pytest.param(
            'assert(1, false, "why")',
            "Assertion failure on evaluate the expression 'assert(1, false, \"why\")': why",
            id="assert with a cause",
        ),
        pytest.param(
            "?", "'?' is the input of unary tests, there is none here", id="input outside of a test"
        ),
        pytest.param("{}.f(1)", "No function found with name 'f' and 1 parameters", id="qualified call"),
        pytest.param('substring("abc", 5)', 'a substring reaches out of "abc"', id="substring"),
        pytest.param(
            'substring("abc", 5, 1)', 'a substring reaches out of "abc"', id="substring from behind the end"
        ),
        pytest.param(
            'substring("abc", -4, 9)',
            'a substring reaches out of "abc"',
            id="substring from before the start",
        ),
        pytest.param(
            'substring("abc", 2, -1)', 'a substring reaches out of "abc"', id="substring of a negative length"
        ),
    ],
)
def test_some_failures_leave_no_result(text: str, message: str) -> None:
    with pytest.raises(EvaluationError) as failed:
        compile_expression(text).evaluate({})

    assert message == str(failed.value)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        pytest.param('substrin("a", 1)', "Did you mean 'substring'?", id="letter left out"),
        pytest.param('uppercase("a")', "Did you mean 'upper case'?", id="blank left out"),
        pytest.param('Contains("a", "b")', "Did you mean 'contains'?", id="capital"),
        pytest.param('string lenght("a")', "Did you mean 'string length'?", id="letters swapped"),
        pytest.param(
            "substring(1)",
            "It is called as substring(string, start position) or substring(string, start position, length)",
            id="too few arguments",
        ),
        pytest.param("round up(number: 1, scale: 2)", "It is called as round up(n, scale)", id="parameter"),
        pytest.param("Length([1])", "Did you mean 'count'?", id="function of another language"),
        pytest.param("True", "Did you mean 'true'?", id="literal in capitals"),
        pytest.param("undefined", "Did you mean 'null'?", id="literal of another language"),
    ],
)
def test_a_failure_names_what_was_probably_meant(text: str, hint: str) -> None:
    (failure,) = compile_expression(text).evaluate({}).failures

    assert failure.message.endswith(f". {hint}")


@pytest.mark.parametrize("text", ["f(1)", "approve order(1)", "amount"])
def test_a_failure_proposes_nothing_that_is_not_alike(text: str) -> None:
    (failure,) = compile_expression(text).evaluate({}).failures

    assert "mean" not in failure.message


def test_the_variable_that_is_missing_is_where_its_name_is() -> None:
    missing, _ = compile_expression("1 + ordr.total").evaluate({}).failures[:2]

    assert (missing.message, missing.position) == ("No variable found with name 'ordr'", 4)
