"""Expressions of the models and suites that lie beside the project, each with values for its variables."""

import json
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from pathlib import Path

from lxml import etree

from server.feel import FeelSyntaxError, compile_expression, compile_unary_tests
from tests.campaigns.dice import Dice
from tests.feel_scala.answers import written
from tests.feel_scala.engine import Question
from tests.server.feel.cases import CASES, all_cases, lifted

_DATA = CASES.parents[1]
_MODELS = ("models/**/*.dmn", "dmn-tck/**/*.dmn", "models/**/*.bpmn", "models/**/*.form")
_TESTS = frozenset({"inputEntry", "inputValues", "outputValues", "allowedValues"})
_SAMPLES = 3
_VALUES = (
    "0", "1", "5", "18", "100.5", "-1", '""', '"a"', '"Low"', '"Approved"', "true", "false", "null", "[1, 2, 3]",
    '["a", "b"]', "{}", '{name: "a", amount: 10}', '@"2024-02-29"', '@"10:30:00"', '@"2024-02-29T10:30:00"',
    '@"P1DT2H"', '@"P1Y2M"',
)  # fmt: skip
ABSENT = "no expressions are collected: there is no folder shared/data beside the project"


def is_here() -> bool:
    return CASES.exists()


def questions(seed: str) -> Iterator[Question]:
    """Each case with its own variables, each text of a model with some of the values above; none twice."""
    yield from dict.fromkeys(chain(_cases(), _of_models(seed)))


def _of_models(seed: str) -> Iterator[Question]:
    for text, is_test in dict.fromkeys(_texts()):
        dice = Dice(f"{seed} {text}")
        yield from (_question(text, dice, is_test=is_test) for _ in range(_SAMPLES))


def _cases() -> Iterator[Question]:
    for case in all_cases():
        variables = written(lifted(case["vars"]))
        is_test = case["kind"] == "unary"
        yield Question(str(case["expr"]), variables, written(lifted(case.get("input"))) if is_test else None)


def _texts() -> Iterator[tuple[str, bool]]:
    """Texts and whether they are unary tests."""
    for pattern in _MODELS:
        for file in sorted(_DATA.glob(pattern)):
            yield from _READERS[file.suffix](file)


def _of_decisions(file: Path) -> Iterator[tuple[str, bool]]:
    for element in etree.parse(file).iter("{*}text"):
        parent = element.getparent()
        if parent is not None and element.text and element.text.strip():
            yield element.text.strip(), etree.QName(parent).localname in _TESTS


def _of_process(file: Path) -> Iterator[tuple[str, bool]]:
    for element in etree.parse(file).iter("{*}*"):
        for text in (element.text, *element.attrib.values()):
            if isinstance(text, str) and text.strip().startswith("="):
                yield text.strip()[1:], False


def _of_form(file: Path) -> Iterator[tuple[str, bool]]:
    yield from ((text[1:], False) for text in _strings(json.loads(file.read_text())) if text.startswith("="))


def _strings(part: object) -> Iterator[str]:
    inside = part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
    yield from [part] if isinstance(part, str) else (text for each in inside for text in _strings(each))


_READERS: Mapping[str, Callable[[Path], Iterator[tuple[str, bool]]]] = {
    ".dmn": _of_decisions,
    ".bpmn": _of_process,
    ".form": _of_form,
}


def _question(text: str, dice: Dice, *, is_test: bool) -> Question:
    entries = [f"`{name}`: {dice.choice(_VALUES)}" for name in sorted(_variables(text, is_test=is_test))]
    return Question(text, f"{{{', '.join(entries)}}}", dice.choice(_VALUES) if is_test else None)


def _variables(text: str, *, is_test: bool) -> frozenset[str]:
    try:
        return (compile_unary_tests(text) if is_test else compile_expression(text)).variables
    except FeelSyntaxError:
        return frozenset()
