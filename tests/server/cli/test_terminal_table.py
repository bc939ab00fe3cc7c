from io import StringIO

import pytest
from rich.console import Console
from rich.text import Text

from server.cli.terminal_table import Columns, TerminalTable

KEY = "9007199254740991999"
COLUMNS = Columns(
    "orders",
    {"Key": "key", "Name": "name", "Owner": "owner", "Message": "message"},
    expendable=("Owner", "Name"),
)
MESSAGE = "the card was declined by the bank that issued it"


def listed(width: int, *rows: tuple[str, ...], total: int | None = None) -> list[str]:
    printed = StringIO()
    cells = [[Text(cell) for cell in row] for row in rows]
    Console(file=printed, width=width, color_system=None).print(TerminalTable(COLUMNS, cells, total))
    return [line.rstrip() for line in printed.getvalue().splitlines()]


ROW = (KEY, "order-fulfilment", "alice", MESSAGE)


def test_every_column_is_shown_where_there_is_room() -> None:
    heading, row = listed(120, ROW)

    assert heading.split() == ["Key", "Name", "Owner", "Message"]
    assert row.split(maxsplit=3) == [*ROW]


@pytest.mark.parametrize(
    ("width", "expected", "missing"),
    [
        pytest.param(66, ["Key", "Name", "Owner", "Message"], "", id="folded first"),
        pytest.param(65, ["Key", "Name", "Message"], "Owner", id="one left out"),
        pytest.param(58, ["Key", "Message"], "Name, Owner", id="two left out"),
        pytest.param(40, ["Key", "Message"], "Name, Owner", id="narrow"),
    ],
)
def test_the_least_important_columns_are_left_out_first(
    width: int, expected: list[str], missing: str
) -> None:
    lines = listed(width, ROW)

    assert lines[0].split() == expected
    assert (f"no room for {missing}; --json shows all" in " ".join(lines)) == bool(missing)
    assert max(map(len, lines)) <= width


@pytest.mark.parametrize("width", [120, 80, 40, 25])
def test_a_key_is_never_cut_and_no_text_is_lost(width: int) -> None:
    lines = listed(width, ROW)

    assert KEY in " ".join(lines)
    assert "…" not in "".join(lines)
    words = "".join(line.removeprefix(KEY) for line in lines[1:])
    assert MESSAGE.replace(" ", "") in words.replace(" ", "")


def test_rows_beyond_the_page_are_counted() -> None:
    assert listed(80, ROW, total=7)[-1] == "1 of 7; --limit shows more"


def test_no_rows_are_a_sentence() -> None:
    assert listed(80) == ["no orders"]
