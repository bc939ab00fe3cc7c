"""Tables that fit the terminal's width without cutting keys.

If the columns do not fit, the least important ones are omitted, and a note names them. Texts are wrapped;
numbers and keys are not, so that people can copy them into the next command.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType
from rich.table import Table
from rich.text import Text

# A text column keeps this width as long as a less important column can be omitted.
_READABLE_WIDTH = 20
_GAP = 2


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a table: headings, each with the field that it shows.

    `items` is the plural noun for the rows. `expendable` lists the headings that are omitted first, in this
    order.
    """

    items: str
    fields: Mapping[str, str]
    expendable: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class TerminalTable:
    """A table; each row has a cell per column. `total` is the number of rows on all pages."""

    columns: Columns
    rows: Sequence[Sequence[Text]]
    total: int | None = None

    def __rich_console__(self, _console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        if not self.rows:
            yield f"no {self.columns.items}"
            return
        shown = self._shown(options.max_width)
        yield self._table(shown)
        yield from (Text(note, style="italic dim") for note in self._notes(shown))

    def _shown(self, width: int) -> list[str]:
        shown, left = list(self.columns.fields), [*self.columns.expendable]
        while left and self._least_width(shown) > width:
            shown.remove(left.pop(0))
        return shown

    def _least_width(self, headings: Sequence[str]) -> int:
        widths = [
            self._width(heading) if self._is_whole(heading) else min(self._width(heading), _READABLE_WIDTH)
            for heading in headings
        ]
        return sum(widths) + _GAP * (len(widths) - 1)

    def _table(self, headings: Sequence[str]) -> Table:
        table = Table(box=None, header_style="bold", pad_edge=False)
        for heading in headings:
            is_whole = self._is_whole(heading)
            table.add_column(
                heading,
                no_wrap=is_whole,
                min_width=self._width(heading) if is_whole else None,
                overflow="fold",
            )
        for row in zip(*map(self._cells, headings), strict=True):
            table.add_row(*row)
        return table

    def _notes(self, headings: Sequence[str]) -> Iterator[str]:
        if self.total is not None and self.total > len(self.rows):
            yield f"{len(self.rows)} of {self.total}; --limit shows more"
        missing = [heading for heading in self.columns.fields if heading not in headings]
        if missing:
            yield f"no room for {', '.join(missing)}; --json shows all"

    def _width(self, heading: str) -> int:
        return max(cell_len(heading), *(cell.cell_len for cell in self._cells(heading)))

    def _is_whole(self, heading: str) -> bool:
        """Whether the column holds numbers or keys."""
        return all(cell.plain.isdecimal() or not cell.plain for cell in self._cells(heading))

    def _cells(self, heading: str) -> list[Text]:
        place = [*self.columns.fields].index(heading)
        return [row[place] for row in self.rows]
