"""The DMN Technology Compatibility Kit, where a checkout of it lies beside the project: its cases and its values."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from lxml import etree
from lxml.etree import _Element as XmlElement

from server import feel
from server.feel import Value
from server.feel.decimals import parse_number
from server.feel.values import is_number

ROOT = Path(__file__).parents[4] / "shared/data/dmn-tck"

_TCK = "{http://www.omg.org/spec/DMN/20160719/testcase}"
_XSI = "{http://www.w3.org/2001/XMLSchema-instance}"
_NUMBERS = frozenset({"decimal", "double", "float", "integer", "int", "long"})
_TEMPORAL = {"date": "date", "time": "time", "dateTime": "date and time", "duration": "duration"}
_SAME = feel.compile_expression("one = other", dialect="standard")


@dataclass(frozen=True, slots=True, eq=False)
class Check:
    """One expected result; `invocable` is the decision service to evaluate instead of the decision."""

    level: str
    folder: Path
    model: Path
    file: str
    case: str
    result: str
    invocable: str | None
    inputs: Mapping[str, Value]
    expected: Value
    is_error: bool

    @property
    def id(self) -> str:
        return f"{self.folder.name}/{self.file}/{self.case}/{self.result}"

    def is_met_by(self, value: Value) -> bool:
        return value is None if self.is_error else is_same(self.expected, value)


def checks(level: str) -> Iterator[Check]:
    for folder in sorted((ROOT / level).iterdir()):
        for file in sorted(folder.glob("*.xml")):
            yield from _checks(level, folder, file)


def is_same(expected: Value, actual: Value) -> bool:
    if isinstance(expected, list):
        return (
            isinstance(actual, list) and len(expected) == len(actual) and all(map(is_same, expected, actual))
        )
    if isinstance(expected, dict):
        return (
            isinstance(actual, dict)
            and expected.keys() == actual.keys()
            and all(is_same(value, actual[name]) for name, value in expected.items())
        )
    if is_number(expected) and is_number(actual):
        return abs(Decimal(expected) - Decimal(actual)) <= Decimal("1e-8") * max(
            Decimal(1), abs(Decimal(expected))
        )
    pair: dict[str, Value] = {"one": expected, "other": actual}
    return type(expected) is type(actual) and _SAME.evaluate(pair).value is True


def _checks(level: str, folder: Path, file: Path) -> Iterator[Check]:
    root = etree.parse(file).getroot()
    model = folder / (root.findtext(f"{_TCK}modelName") or "").strip()
    for case in root.iter(f"{_TCK}testCase"):
        inputs = {node.get("name", ""): _value(node) for node in case.iterchildren(f"{_TCK}inputNode")}
        for result in case.iterchildren(f"{_TCK}resultNode"):
            expected = result.find(f"{_TCK}expected")
            yield Check(
                level=level,
                folder=folder,
                model=model,
                file=file.stem,
                case=case.get("id", ""),
                result=result.get("name", ""),
                invocable=case.get("invocableName") if case.get("type") == "decisionService" else None,
                inputs=inputs,
                expected=None if expected is None else _value(expected),
                is_error=result.get("errorResult") == "true",
            )


def _value(node: XmlElement) -> Value:
    scalar, items = node.find(f"{_TCK}value"), node.find(f"{_TCK}list")
    if scalar is not None:
        return _scalar(scalar)
    if items is not None:
        return (
            None if items.get(f"{_XSI}nil") == "true" else [*map(_value, items.iterchildren(f"{_TCK}item"))]
        )
    components = {child.get("name", ""): _value(child) for child in node.iterchildren(f"{_TCK}component")}
    return components or None


def _scalar(node: XmlElement) -> Value:
    if node.get(f"{_XSI}nil") == "true":
        return None
    text, kind = node.text or "", node.get(f"{_XSI}type", "").rpartition(":")[2]
    if kind == "":
        return text if text.strip() else None
    if kind == "boolean":
        return text.strip() in {"true", "1"}
    if kind in _NUMBERS:
        return parse_number(text.strip())
    if kind in _TEMPORAL:
        return _temporal(_TEMPORAL[kind], text.strip())
    return text


def _temporal(function: str, text: str) -> Value:
    scope: dict[str, Value] = {"text": text}
    value = feel.compile_expression(f"{function}(text)", dialect="standard").evaluate(scope).value
    if value is None:
        raise ValueError(f"expected {function}, found {text}")
    return value
