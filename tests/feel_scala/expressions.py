"""Random expressions in Camunda's dialect: each form of the language and each builtin, as a template by its kind.

`{number}` in a template stands for any expression of that kind. Most operands are of the kind that is asked for; one
in `ODD` is of any kind, so that null and failures are compared too. `#` ends what is put into a template as it is.
"""

import re
from collections.abc import Mapping, Sequence

from tests.campaigns.dice import Dice
from tests.feel_scala.engine import Question

DEPTH = 3
ODD = 20
_PLACE = re.compile(r"\{(\w+)\}")

_LEAVES: Mapping[str, Sequence[str]] = {
    "number": ["0", "1", "2", "3", "7", "10", "-1", "-2", "2.5", "0.1", "100", "1.005", "-3.75", "12345678901234567890", "a", "b", "c.a", "item", "i", "missing"],
    "string": [
        '""', '"a"', '"b"', '"abc"', '"Hello World"', '"foobar"', '"x y"', '"1,5"', '"10"', '"aaa"', '"Ünïcode"',
        '" x "', "s", "t", "c.s",
    ],
    "boolean": ["true", "false", "p", "q", "c.p", "null"],
    "date": ['date("2024-02-29")', '@"2023-12-31"', 'date("2000-01-01")', "d", "date(2024, 6, 15)"],
    "time": [
        '@"10:30:00"', 'time("23:59:59")', '@"08:00:00Z"', '@"10:00:00+02:00"', '@"09:15:30.5"',
        '@"10:00:00@Europe/Berlin"', "time(12, 0, 0)",
    ],
    "moment": [
        '@"2024-02-29T10:30:00"', '@"2023-12-31T23:59:59Z"', '@"2024-06-15T08:00:00+02:00"',
        '@"2024-06-15T08:00:00@Europe/Berlin"', "dt", "now()",
    ],
    "days": ['@"P1D"', '@"PT5H"', '@"-PT90M"', 'duration("P2DT3H4M5S")', '@"PT0S"', '@"PT0.5S"', "w"],
    "months": ['@"P1Y"', '@"P2M"', 'duration("-P1Y6M")', '@"P0M"', "m"],
    "numbers": ["[]", "[1]", "[1, 2, 3]", "[3, 1, 2, 1]", "xs", "c.xs", "[1, null, 2]", "[2.5, -1, 10]"],
    "strings": ["[]", '["a"]', '["a", "b", "a"]', "ss", '["foo", null, "bar"]'],
    "booleans": ["[]", "[true]", "[true, false]", "[false, null]", "[true, null]"],
    "context": ["{}", "c", '{a: 1, s: "x"}', "{a: null}", '{"a b": 1, c: {a: 2}}'],
    "contexts": ["[]", "cs", '[{a: 1, s: "x"}, {a: 2, s: "y"}]', '[{a: 1}, {s: "z"}]'],
    "range": ["[1..5]", "(1..5)", "[1..5)", "(1..5]", "]1..5[", "[5..10]", "[2..3]", '["a".."d"]',
              '[@"2024-01-01"..@"2024-12-31"]'],
    "pattern": ['"a"', '"o+"', '"[a-c]"', '"(a)(b)?"', '"^f.*r$"', '"\\\\s+"', '"\\\\d"', '"\\\\w+"', '"l{2}"', '"["', '"."'],
    "index": ["1", "2", "3", "-1", "-2", "0", "4"],
    "small": ["0", "1", "2", "3", "-1"],
}  # fmt: skip

_ANY = ("number", "string", "boolean", "date", "time", "moment", "days", "months", "numbers", "strings", "context",
        "contexts")  # fmt: skip

_FORMS: Mapping[str, Sequence[str]] = {
    "any": [],
    "number": [
        "{number} + {number}", "{number} - {number}", "{number} * {number}", "{number} / {number}", "-({number})",
        "{number} ** {small}", "({number})", "{numbers}[{index}]", "{context}.a", "if {boolean} then {number} else {number}",
        "string length({string})", "count({numbers})", "number({string})", 'number({string}, ",", ".")',
        "decimal({number}, {small})", "floor({number})", "floor({number}, {small})", "ceiling({number})",
        "ceiling({number}, {small})", "round up({number}, {small})", "round down({number}, {small})",
        "round half up({number}, {small})", "round half down({number}, {small})", "abs({number})",
        "modulo({number}, {number})", "sqrt({number})", "log({number})", "exp({small})", "min({numbers})",
        "max({numbers})", "sum({numbers})", "product({numbers})", "mean({numbers})", "median({numbers})",
        "stddev({numbers})", "min({number}, {number})", "max({number}, {number}, {number})", "sum({number}, {number})",
        "{date}.year", "{date}.month", "{date}.day", "{date}.weekday", "{moment}.hour", "{moment}.day", "{time}.hour",
        "{time}.minute", "{time}.second", "{moment}.second", "{days}.days", "{days}.hours", "{days}.minutes",
        "{days}.seconds", "{months}.years", "{months}.months", "day of year({date})", "week of year({date})",
        "{days} / {days}", "{months} / {months}", "get or else({number}, {number})", 'get value({context}, "a")',
        "{numbers}[item > {number}][1]", "{range}.start", "(function(x) x + 1)({number})", "({numbers})[{index}]",
    ],
    "string": [
        "{string} + {string}", "substring({string}, {index})", "substring({string}, {index}, {small})",
        "upper case({string})", "lower case({string})", "substring before({string}, {string})",
        "substring after({string}, {string})", "replace({string}, {pattern}, {string})",
        'replace({string}, {pattern}, "[$0]")', 'replace({string}, {pattern}, "$1-", "i")', "string({any})",
        "string join({strings})", "string join({strings}, {string})", "string join({strings}, {string}, {string}, {string})",
        "trim({string})", "to base64({string})", "from base64(to base64({string}))", "day of week({date})",
        "month of year({date})", "{strings}[{index}]", "{context}.s", "if {boolean} then {string} else {string}",
        "string({number})", "string({days})", "string({moment})", "string({contexts})", "to json({any})",
        "get or else({string}, {string})", "{moment}.timezone", "string(from: {number})", "min({strings})", "max({strings})",
    ],
    "boolean": [
        "{number} = {number}", "{number} != {number}", "{number} < {number}", "{number} <= {number}", "{number} > {number}",
        "{number} >= {number}", "{string} = {string}", "{string} < {string}", "{any} = {any}", "{any} != {any}",
        "{any} < {any}", "{date} < {date}", "{date} = {date}", "{time} < {time}", "{time} = {time}", "{moment} >= {moment}",
        "{moment} = {moment}", "{days} > {days}", "{days} = {days}", "{months} <= {months}", "{boolean} and {boolean}",
        "{boolean} or {boolean}", "not({boolean})", "{number} between {number} and {number}",
        "{date} between {date} and {date}", "{number} in [{number}..{number}]", "{number} in ({number}..{number})",
        "{number} in (< {number}, > {number})", "{number} in ({number}, {number})", "{number} in {numbers}",
        "{number} in {range}", "{string} in {strings}", "some x in {numbers} satisfies x > {number}",
        "every x in {numbers} satisfies x > {number}", "some x in {numbers}, y in {numbers} satisfies x = y",
        "every x in {strings} satisfies x = {string}", "{number} instance of number", "{any} instance of {type}",
        "{any} instance of {type}", "contains({string}, {string})", "starts with({string}, {string})",
        "ends with({string}, {string})", "matches({string}, {pattern})", 'matches({string}, {pattern}, "i")',
        "is blank({string})", "list contains({numbers}, {number})", "list contains({strings}, {string})",
        "all({booleans})", "any({booleans})", "all({boolean}, {boolean})", "any({boolean}, {boolean})", "odd({number})",
        "even({number})", "is defined({any})", "is empty({numbers})", "before({number}, {number})", "after({number}, {range})",
        "before({range}, {range})", "meets({range}, {range})", "met by({range}, {range})", "overlaps({range}, {range})",
        "overlaps before({range}, {range})", "overlaps after({range}, {range})", "finishes({number}, {range})",
        "finishes({range}, {range})", "finished by({range}, {number})", "includes({range}, {number})",
        "includes({range}, {range})", "during({number}, {range})", "during({range}, {range})", "starts({number}, {range})",
        "starts({range}, {range})", "started by({range}, {range})", "{context} in {contexts}",
        "list contains({contexts}, {context})", "a between {number} and {number}", "{number} in ({number}, {range})",
        "some x in [{numbers}], y in x satisfies y = {number}", "{string} in [{string}..{string}]",
        "{date} in [{date}..{any}]", "{number} in ({number})", "coincides({range}, {range})",
        "coincides({number}, {number})", "{range} = {range}", "{numbers} = {numbers}", "{context} = {context}", "{context}.p",
        "{contexts}[1].p",
    ],
    "date": [
        "date({string})", "date({moment})", "{date} + {days}", "{date} - {days}", "{date} + {months}", "{date} - {months}",
        "last day of month({date})", "min({date}, {date})", "if {boolean} then {date} else {date}", "today()",
        "date({number}, {index}, {index})",
    ],
    "time": [
        "time({moment})", "{time} + {days}", "{time} - {days}", "time({index}, {index}, {index})",
        "time({index}, {index}, {index}, {days})", "time({string})",
    ],
    "moment": [
        "date and time({date}, {time})", "{moment} + {days}", "{moment} - {days}", "{moment} + {months}",
        "{moment} - {months}", 'date and time({moment}, "Europe/Berlin")', "date and time({string})", "max({moment}, {moment})",
    ],
    "days": [
        "{days} + {days}", "{days} - {days}", "{days} * {number}", "{days} / {number}", "{date} - {date}", "{time} - {time}",
        "{moment} - {moment}", "-({days})", "abs({days})", "duration({string})", '{moment}."time offset"', "{moment} - {date}",
    ],
    "months": [
        "{months} + {months}", "{months} - {months}", "{months} * {number}", "{months} / {number}", "-({months})",
        "abs({months})", "years and months duration({date}, {date})", "years and months duration({moment}, {date})",
    ],
    "numbers": [
        "[{number}, {number}]", "{numbers}[item > {number}]", "{numbers}[{boolean}]", "for i in {numbers} return {number}",
        "for x in {numbers} return x + {number}", "for i in 1..{index} return i * {number}", "for i in {index}..{index} return i",
        "for i in {numbers} return i + sum(partial)", "for x in {numbers}, y in {numbers} return x * y", "{contexts}.a",
        "append({numbers}, {number})", "concatenate({numbers}, {numbers})", "insert before({numbers}, {index}, {number})",
        "remove({numbers}, {index})", "reverse({numbers})", "index of({numbers}, {number})", "union({numbers}, {numbers})",
        "distinct values({numbers})", "duplicate values({numbers})", "flatten([{numbers}, [{number}]])", "mode({numbers})",
        "for x in [{numbers}], y in x return y + {number}", "index of({contexts}, {context})",
        "sublist({numbers}, {index})", "sublist({numbers}, {index}, {small})", "sort({numbers}, function(x, y) x < y)",
        "if {boolean} then {numbers} else {numbers}", "partition({numbers}, {small})",
    ],
    "strings": [
        "[{string}, {string}]", "split({string}, {pattern})", "extract({string}, {pattern})", "{strings}[item = {string}]",
        "for x in {strings} return x + {string}", "{contexts}.s", "append({strings}, {string})", "concatenate({strings}, {strings})",
        "distinct values({strings})", "get entries({context}).key", "sort({strings}, function(x, y) x < y)",
        "reverse({strings})", "{strings}[{index}]", "index of({strings}, {string})",
    ],
    "booleans": ["[{boolean}, {boolean}]", "for x in {numbers} return x > {number}", "for x in {booleans} return not(x)"],
    "context": [
        "{{a: {number}, s: {string}}}", "{{a: {number}, b: a + {number}}}", "{contexts}[{index}]", 'context put({context}, "a", {number})',
        'context put({context}, ["c", "a"], {number})', "context merge({context}, {context})", "context merge([{context}, {context}])",
        'context([{{key: "a", value: {number}}}])', "context(get entries({context}))", "{contexts}[a > {number}][1]",
        'context put({context}, key: "a", value: {number})', "if {boolean} then {context} else {context}", "{context}.c",
    ],
    "contexts": [
        "[{context}, {context}]", "{contexts}[a = {number}]", "{contexts}[s = {string}]", "{contexts}[item.a < {number}]",
        "{contexts}[{boolean}]", "for x in {contexts} return {{a: x.a}}", "get entries({context})", "append({contexts}, {context})",
        "sort({contexts}, function(x, y) x.a < y.a)", "for i in {numbers} return {{a: i, s: {string}}}",
    ],
    "range": ["[{number}..{number}]", "({number}..{number})", "[{number}..{number})", "[{date}..{date}]"],
}  # fmt: skip
_TYPES = ("number", "string", "boolean", "date", "time", "date and time", "days and time duration",
          "years and months duration", "context", "function", "Any")  # fmt: skip
_TESTS = (
    "-", "{number}", "{string}", "< {number}", "<= {number}", "> {number}", ">= {number}", "[{number}..{number}]",
    "({number}..{number})", "{number}, {number}", "not({number})", "not({number}, {number})", "not(< {number})",
    "? > {number}", "? = {string}", "contains(?, {string})", "{string}, {string}", "true", "false", "null", "{boolean}",
    "< {date}", "{range}", "{numbers}", "? in {range}", "? + 1 > {number}", "not({string})", "< {days}",
    "[{date}..{date}]", "> {number}, < {number}", "count(?) > 1", "? instance of {type}", "({range})", "(< {number})",
    "[{number}..{any}]", "[{any}..{number}], {number}", "{contexts}", "? between {number} and {number}",
)  # fmt: skip


def random_question(dice: Dice) -> Question:
    writer = _Writer(dice)
    if dice.between(1, 8) == 1:
        return Question(
            writer.filled(dice.choice(_TESTS), 2), writer.variables(), writer.leaf(dice.choice(_ANY))
        )
    return Question(writer.of(dice.choice(_ANY), DEPTH), writer.variables())


class _Writer:
    def __init__(self, dice: Dice) -> None:
        self._dice = dice

    def of(self, kind: str, depth: int) -> str:
        if kind == "type":
            return self._dice.choice(_TYPES)
        if kind == "any" or (kind in _ANY and self._dice.between(1, ODD) == 1):
            kind = self._dice.choice(_ANY)
        if depth == 0 or kind not in _FORMS or self._dice.between(1, 4) == 1:
            return self.leaf(kind)
        return self.filled(self._dice.choice(_FORMS[kind]), depth - 1)

    def filled(self, template: str, depth: int) -> str:
        """Write each operand in parentheses where it is one of operators."""
        text = _PLACE.sub(lambda place: self._operand(place[1], depth), template)
        return text.replace("{{", "{").replace("}}", "}")

    def leaf(self, kind: str) -> str:
        return self._dice.choice(_LEAVES[kind])

    def variables(self) -> str:
        number, word = self._number(), self._word()
        entries = [
            f"a: {number}", f"b: {self._number()}", f"s: {word}", f"t: {self._word()}", f"p: {self._truth()}",
            f"q: {self._truth()}", f"xs: [{number}, {self._number()}, 2]", f"ss: [{word}, {self._word()}]",
            'd: @"2024-01-31"', 'dt: @"2024-03-31T01:30:00"', 'w: @"P7D"', 'm: @"P13M"',
            f"c: {{a: {self._number()}, s: {word}, p: {self._truth()}, xs: [1, {number}]}}",
            f"cs: [{{a: {number}, s: {word}}}, {{a: {self._number()}, s: {self._word()}}}]",
        ]  # fmt: skip
        return f"{{{', '.join(entries)}}}"

    def _operand(self, kind: str, depth: int) -> str:
        text = self.of(kind, depth)
        # The parentheses of an argument would make another expression of a range.
        return text if kind == "range" or _IS_CLOSED.fullmatch(text) else f"({text})"

    def _number(self) -> str:
        return str(self._dice.between(-9, 9))

    def _word(self) -> str:
        return self._dice.choice(['""', '"a"', '"abc"', '"foobar"', '"x"'])

    def _truth(self) -> str:
        return self._dice.choice(["true", "false"])


_IS_CLOSED = re.compile(
    r'-?[\w.]+|@?"[^"]*"|(?!.*\b(?:in|and|or|between)\b)[\w ]+\([^()]*\)|\[[^\[\]]*\]|\{[^{}]*\}|[\w ]+'
)
