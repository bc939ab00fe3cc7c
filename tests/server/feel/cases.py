"""The expectations of feel-scala's own tests, where they lie beside the project."""

from pathlib import Path

from server.feel import Value
from server.feel.json_text import read
from server.feel.temporal import parser
from server.feel.values import Context

CASES = Path(__file__).parents[4] / "shared/data/feel/cases.jsonl"
TEMPORAL = {
    "$date": parser.date,
    "$time": parser.time,
    "$dateTime": parser.date_time,
    "$dt": parser.duration,
    "$ym": parser.duration,
}


def lifted(value: Value) -> Value:
    """`{"$date": "…"}` as the date."""
    if isinstance(value, list):
        return [*map(lifted, value)]
    if not isinstance(value, dict):
        return value
    if len(value) == 1 and (kind := next(iter(value))) in TEMPORAL:
        return TEMPORAL[kind](value[kind])
    return {key: lifted(entry) for key, entry in value.items()}


def all_cases() -> list[Context]:
    lines = CASES.read_text(encoding="utf-8").splitlines() if CASES.exists() else []
    return [read(line) for line in lines]
