from pathlib import Path

import pytest

from tests.server.cli.conftest import Gnomon


@pytest.fixture
def context(tmp_path: Path) -> str:
    file = tmp_path / "context.json"
    file.write_text('{"order": {"total": 120}, "net price": 2.50}')
    return str(file)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        pytest.param("order.total > 100", "true  (boolean)", id="condition"),
        pytest.param("= net price * 2", "5.00  (number)", id="name with a space"),
        pytest.param('@"2024-01-31" + @"P1M"', "2024-02-29  (date)", id="date"),
        pytest.param("today() = date(now())", "true  (boolean)", id="today"),
        pytest.param("string length(uuid())", "36  (number)", id="chance"),
        pytest.param(
            "order.gone",
            "null  (null)\nwarning: NO_CONTEXT_ENTRY_FOUND: "
            "No context entry found with key 'gone'. Available keys: 'total' (line 1, column 6)",
            id="failure",
        ),
        pytest.param(
            "ordr = null",
            "true  (boolean)\nwarning: NO_VARIABLE_FOUND: "
            "No variable found with name 'ordr'. Did you mean 'order'? (line 1, column 1)",
            id="misspelt variable",
        ),
        pytest.param(
            "1 +\n uper case(order.total)",
            "null  (null)\n"
            "warning: NO_FUNCTION_FOUND: No function found with name 'uper case' and 1 parameters. "
            "Did you mean 'upper case'? (line 2, column 2)\n"
            "warning: INVALID_TYPE: Can't add 'null' to '1' (line 1, column 3)",
            id="failures of two lines",
        ),
    ],
)
def test_it_shows_value_type_and_failures(
    gnomon_alone: Gnomon, context: str, expression: str, expected: str
) -> None:
    ended = gnomon_alone("feel", expression, "--context", context)

    assert (ended.exit_code, ended.output.rstrip(), ended.errors) == (0, expected, "")


def test_it_prints_json_for_programs(gnomon_alone: Gnomon) -> None:
    ended = gnomon_alone("feel", "[1.50, x]", "--json")

    assert ended.json["value"] == [1.5, None]
    assert ended.json["type"] == "list"
    assert [failure["type"] for failure in ended.json["failures"]] == ["NO_VARIABLE_FOUND"]


def test_it_speaks_the_standard(gnomon_alone: Gnomon) -> None:
    assert gnomon_alone("feel", "100[1]", "--dialect", "standard").output.startswith("100 ")


def test_an_expression_without_a_result_is_exit_code_1(gnomon_alone: Gnomon) -> None:
    ended = gnomon_alone("feel", 'assert(1, false, "never")')

    assert ended.exit_code == 1
    assert "never" in ended.output


def test_what_is_no_expression_is_exit_code_2(gnomon_alone: Gnomon) -> None:
    ended = gnomon_alone("feel", "1 +")

    assert ended.exit_code == 2
    assert "expected an expression but found the end at line 1, column 4" in ended.errors


@pytest.mark.parametrize(
    ("expression", "shown"),
    [
        pytest.param('status == "ok"', 'at line 1, column 8\nstatus == "ok"\n       ^', id="operator"),
        pytest.param("a and\nb && c", "at line 2, column 3\nb && c\n  ^", id="second line"),
        pytest.param("1 + " * 40 + "* 2", "+ 1 + * 2\n" + " " * 59 + "^", id="long line"),
    ],
)
def test_the_place_of_a_mistake_is_marked(gnomon_alone: Gnomon, expression: str, shown: str) -> None:
    ended = gnomon_alone("feel", expression)

    assert ended.exit_code == 2
    assert shown in ended.errors
