"""Checks of decision tables and relations."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from server.lint.subject import Subject
from server.lint.violation import Violation
from server.xml import Markup

MOST_COMPARED_RULES = 300
"""Only the first rules of a table are compared with each other."""

_ORDERING = frozenset({"PRIORITY", "OUTPUT ORDER"})
_ANYTHING = frozenset({"", "-"})


def entries_of_rules(subject: Subject) -> Iterator[Violation]:
    """Require as many entries in every rule as the table has columns."""
    table = subject.markup
    expected = len(table.all("input")), len(table.all("output"))
    for rule in table.all("rule"):
        found = len(rule.all("inputEntry")), len(rule.all("outputEntry"))
        if found != expected:
            yield Violation(
                f"expected {expected[0]} input and {expected[1]} output entries,"
                f" found {found[0]} and {found[1]}",
                rule,
            )


def cells_of_rows(subject: Subject) -> Iterator[Violation]:
    columns = len(subject.markup.all("column"))
    for row in subject.markup.all("row"):
        cells = sum(1 for child in row.children if child.tag not in _BESIDE_CELLS)
        if cells != columns:
            yield Violation(f"expected {columns} cells, found {cells}", row)


def priorities(subject: Subject) -> Iterator[Violation]:
    """Require output values if the hit policy orders by them."""
    table = subject.markup
    if _hit_policy(table) in _ORDERING:
        for output in table.all("output"):
            if not _text(output.first("outputValues")):
                yield Violation("found no outputValues", output)


def overlaps(subject: Subject) -> Iterator[Violation]:
    """Find rules that match the same input: each pair of entries is equal or one of them matches anything."""
    table = subject.markup
    if _hit_policy(table) != "UNIQUE" or not table.all("input"):
        return
    rules = table.all("rule")[:MOST_COMPARED_RULES]
    entries = [[_text(entry) for entry in rule.all("inputEntry")] for rule in rules]
    for first, second in _overlapping(entries):
        yield Violation(f"rule {second + 1} matches what rule {first + 1} matches", rules[second])


def _overlapping(entries: Sequence[Sequence[str]]) -> Iterator[tuple[int, int]]:
    """Yield pairs of overlapping rules by position; bit sets represent sets of rules.

    A missing entry matches anything.
    """
    everything = (1 << len(entries)) - 1
    columns: list[defaultdict[str, int]] = []
    for bit, row in enumerate(entries):
        columns += [defaultdict[str, int](int) for _ in range(len(row) - len(columns))]
        for column, text in zip(columns, row, strict=False):
            column[text] |= 1 << bit
    particular = [sum(rules for text, rules in column.items() if text not in _ANYTHING) for column in columns]
    for first, row in enumerate(entries):
        others = everything >> first + 1 << first + 1
        for column, text, told in zip(columns, row, particular, strict=False):
            if text not in _ANYTHING:
                others &= column[text] | ~told
        while others:
            bit = others & -others
            others ^= bit
            yield first, bit.bit_length() - 1


def _hit_policy(table: Markup) -> str:
    return " ".join(table.attributes.get("hitPolicy", "UNIQUE").split())


def _text(element: Markup | None) -> str:
    text = element.first("text") if element is not None else None
    return text.text if text is not None else ""


_BESIDE_CELLS = frozenset({"description", "extensionElements", "typeRef"})
