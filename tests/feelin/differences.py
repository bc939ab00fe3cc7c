"""Known differences between feelin and our standard dialect on the same part: one row for each.

A row has an example and says which culprits are its own. A difference without a row is unexplained, and the run fails.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from server.feel import Value
from server.feel.nodes import (
    Between,
    Comparison,
    Conjunction,
    Disjunction,
    Filter,
    For,
    If,
    In,
    IteratedRange,
    Literal,
    Node,
    Path,
    Quantified,
)
from server.feel.printer import printed
from server.feel.values import is_number
from tests.feelin.culprits import Culprit, our_answer, parts


@dataclass(frozen=True, slots=True)
class Difference:
    name: str
    explanation: str
    example: str
    takes: Callable[[Culprit], bool]


def explanation(culprit: Culprit) -> Difference | None:
    return next((row for row in DIFFERENCES if row.takes(culprit)), None)


def _is_no_text(culprit: Culprit) -> bool:
    return "Unrecognized token <⚠> in <Interval>" in str(culprit.theirs.get("error"))


def _their_value(culprit: Culprit) -> Value:
    return culprit.theirs.get("value", "an error")


def _are_ordered(values: Sequence[Value]) -> bool:
    return all(map(is_number, values)) or all(isinstance(value, str) for value in values)


def _compares_a_short_list(culprit: Culprit) -> bool:
    match culprit.node:
        case Comparison("=" | "!=", left, right):
            one, other = culprit.value(left), culprit.value(right)
            if not isinstance(one, list) or not isinstance(other, list):
                return False
            return len(one) != len(other) and min(len(one), len(other)) <= 1
        case _:
            return False


def _compares_one_with_its_list(culprit: Culprit) -> bool:
    match culprit.node:
        case Comparison("=" | "!=", left, right):
            pair = (culprit.value(left), culprit.value(right))
            return any(isinstance(value, list) and len(value) == 1 for value in pair)
        case _:
            return False


def _orders_what_has_no_order(culprit: Culprit) -> bool:
    match culprit.node:
        case Comparison("<" | "<=" | ">" | ">=", left, right):
            pair = (culprit.value(left), culprit.value(right))
            return not _are_ordered(pair) and culprit.ours == {"value": None}
        case _:
            return False


def _between_of_descending_ends(culprit: Culprit) -> bool:
    match culprit.node:
        case Between(_, low, high):
            ends = (culprit.value(low), culprit.value(high))
            return _are_ordered(ends) and any(a > b for a, b in pairwise(ends))  # type: ignore[operator]  # they are ordered
        case _:
            return False


def _between_of_other_kinds(culprit: Culprit) -> bool:
    match culprit.node:
        case Between(operand, low, high):
            return not _are_ordered([culprit.value(part) for part in (operand, low, high)])
        case _:
            return False


def _within_other_kinds(culprit: Culprit) -> bool:
    match culprit.node:
        case In(operand, _):
            return not is_number(culprit.value(operand)) and culprit.ours["value"] is not True
        case _:
            return False


def _walks_into_lists_of_lists(culprit: Culprit) -> bool:
    match culprit.node:
        case Path(source, _):
            value = culprit.value(source)
            return isinstance(value, list) and any(isinstance(item, list) for item in value)
        case _:
            return False


def _loops_over_a_range_that_ends_at_zero(culprit: Culprit) -> bool:
    match culprit.node:
        case For((iterator,), _) if isinstance(iterator.source, IteratedRange):
            ends = [culprit.value(iterator.source.start), culprit.value(iterator.source.end)]
            return 0 in ends and _their_value(culprit) is None
        case _:
            return False


def _loops_over_one(culprit: Culprit) -> bool:
    match culprit.node:
        case For((iterator,), _) | Quantified((iterator,), _):
            if isinstance(iterator.source, IteratedRange):
                return False
            return not isinstance(culprit.value(iterator.source), list) and _their_value(culprit) is None
        case _:
            return False


def _decides_by_what_is_no_boolean(culprit: Culprit) -> bool:
    match culprit.node:
        case If(((condition, _), *_), _):
            value = culprit.value(condition)
            return value is not None and not isinstance(value, bool)
        case _:
            return False


def _is_satisfied_by_what_is_no_boolean(culprit: Culprit) -> bool:
    match culprit.node:
        case Quantified(_, condition):
            return any(
                not isinstance(our_answer(printed(condition), inner).get("value"), bool)
                for part, inner in parts(culprit.node, culprit.context)
                if part is condition
            )
        case _:
            return False


def _filters_by_what_is_outside(culprit: Culprit) -> bool:
    match culprit.node:
        case Filter(_, condition) if not isinstance(condition, _CONDITIONS):
            text = printed(condition)
            outside = our_answer(text, culprit.context)
            inside = [
                our_answer(text, inner)
                for part, inner in parts(culprit.node, culprit.context)
                if part is condition
            ]
            is_asked_in_vain = not inside and "error" in culprit.theirs
            return is_asked_in_vain or bool(_ITEM.search(text)) or any(each != outside for each in inside)
        case _:
            return False


_ITEM = re.compile(r"\bitem\b")
_CONDITIONS = Comparison | Conjunction | Disjunction | Between | In


def _filters_by_what_is_no_condition(culprit: Culprit) -> bool:
    match culprit.node:
        case Filter(_, condition):
            value = culprit.value(condition)
            return not isinstance(value, bool) and not _is_index(condition)
        case _:
            return False


def _is_index(node: Node) -> bool:
    return isinstance(node, Literal) and is_number(node.value)


def _filters_one(culprit: Culprit) -> bool:
    match culprit.node:
        case Filter(source, _):
            value = culprit.value(source)
            return not isinstance(value, list) and _their_value(culprit) == value
        case _:
            return False


def _filters_what_javascript_has_as_false(culprit: Culprit) -> bool:
    match culprit.node:
        case Filter(source, _):
            value = culprit.value(source)
            items = value if isinstance(value, list) else [value]
            return any(item in (None, False, 0, "") for item in items)
        case _:
            return False


DIFFERENCES: Sequence[Difference] = (
    Difference(
        "an unread text",
        "An interval is read where `([` begins a long text in parentheses, and that is refused.",
        '([][1] between {a: -(c.a), s: (if p then c.s else "Ada"), p: (some v0 in cs.a satisfies true)}.a'
        " and (if false then {a: c.a, s: t, p: false} else {a: a, s: 10, p: q}).a)",
        _is_no_text,
    ),
    Difference(
        "short lists that differ",
        "A list of one or none is null when it is compared with a longer list; DMN 1.5 §10.3.2.13 has false.",
        "[1] = [1, 2]",
        _compares_a_short_list,
    ),
    Difference(
        "a list of one and an item",
        "A list of one is compared as its item; in ours values of two types cannot be compared.",
        "[1] != 2",
        _compares_one_with_its_list,
    ),
    Difference(
        "order of what has none",
        "Values of two types, or of one without an order, are compared as JavaScript would or end with an error.",
        '"z" >= 2',
        _orders_what_has_no_order,
    ),
    Difference(
        "between descending ends",
        "The ends of `between` change places where the first is greater, which the standard knows of no range.",
        "2 between 7 and -2",
        _between_of_descending_ends,
    ),
    Difference(
        "between other kinds",
        "`between` is null or an error if one of its values cannot be compared, and no conjunction.",
        "12 between null and 3",
        _between_of_other_kinds,
    ),
    Difference(
        "in by JavaScript",
        "Ranges and comparisons after `in` take other types than numbers as JavaScript would; ours have null.",
        "false in (< 3, > 7)",
        _within_other_kinds,
    ),
    Difference(
        "paths into lists of lists",
        "A path finds null in a list inside of a list; ours goes on into its items.",
        "[[{a: 1}]].a",
        _walks_into_lists_of_lists,
    ),
    Difference(
        "zero as the end of a loop",
        "A loop over a range that begins or ends at 0 is null, since JavaScript has 0 as false.",
        "for i in -2..0 return i",
        _loops_over_a_range_that_ends_at_zero,
    ),
    Difference(
        "loop over one",
        "A loop over what is no list is null; by DMN 1.5 §10.3.2.9.4 it is a list of one.",
        "for i in 2 return i",
        _loops_over_one,
    ),
    Difference(
        "if by JavaScript",
        "A condition that is neither true, false nor null counts as JavaScript counts it; the standard goes to `else`.",
        'if "a" then 1 else 2',
        _decides_by_what_is_no_boolean,
    ),
    Difference(
        "satisfied by JavaScript",
        "A condition of `some` or `every` that is no boolean counts as JavaScript counts it; the standard has null.",
        "some i in [1] satisfies null",
        _is_satisfied_by_what_is_no_boolean,
    ),
    Difference(
        "filter by what is outside",
        "A condition that is no comparison is evaluated once, outside of the items, and not in each of them, also for no"
        " items at all.",
        "{p: true, x: [{p: false}][p]}.x",
        _filters_by_what_is_outside,
    ),
    Difference(
        "a filter of one",
        "What a filter keeps of a value that is no list may be the value itself, not a list of it.",
        "true[true]",
        _filters_one,
    ),
    Difference(
        "items that JavaScript has as false",
        "A filter drops items that are null, false, 0 or empty.",
        "[null][1 = 1]",
        _filters_what_javascript_has_as_false,
    ),
    Difference(
        "filter by no condition",
        "A filter whose condition is neither boolean nor number is null, in ours an empty list, or the reverse.",
        "[1, 2][[3]]",
        _filters_by_what_is_no_condition,
    ),
)
