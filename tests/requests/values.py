"""Values for schemas: mostly what a schema allows, at its bounds, and what the server has answered with before."""

import json
from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tests.campaigns.dice import Dice
from tests.requests.operations import Document, Schema

Json = Any
LEARNED = 40
LONGEST_LEARNED = 300
DEEPEST = 5
LONG = 3_000
# No name of another machine: servers of tests open no connection to one.
ADDRESSES = (
    "https://a.invalid/x",
    "http://127.0.0.1:1/",
    "https://[::1]/",
    "urn:x",
    "javascript:alert(1)",
    "//a",
)
STRINGS = (
    *("", " ", "a", "default", "other", "x" * 255, "x" * 257, "null", "true", "0", "-1", "1e999", "NaN"),
    *("\x00", "\x7f", "\r\nx: y", "\u202eabc", "\ufeff", "é", "e\u0301", "😀", "\ud7ff", "İ", "ß", "\u2028"),
    *("../../etc/passwd", "%2e%2e%2f", "%", "%zz", "a/b", "a?b#c", "'; DROP TABLE x; --", "\\", '"', "$1"),
    *(
        "<script>",
        "{{7*7}}",
        "${x}",
        "=1/0",
        "=a.b[1]",
        "= for x in 1..9 return x",
        "*",
        "?*\\",
        "[a-",
        "(?:",
    ),
    *("PT1S", "P1Y", "-PT1S", "2026-02-30", "2026-01-01T00:00:00Z", "9999-12-31T23:59:59.999999999Z"),
    *(
        "0001-01-01T00:00:00+18:00",
        "2026-01-01T24:00:00Z",
        "a@example.test",
        "a@b@c",
        "@",
        "::1",
        "10.0.0.0/8",
    ),
    *(
        "client_credentials",
        "openid profile",
        "code",
        "RS256",
        "none",
        "eyJhbGciOiJub25lIn0.e30.",
        "AAAA",
        "en",
    ),
    *ADDRESSES,
)
TIMES = tuple(found for found in STRINGS if found[:4].isdigit())
INTEGERS = (
    0,
    1,
    2,
    5,
    10,
    100,
    -1,
    2**31 - 1,
    2**31,
    2**53,
    2**63 - 1,
    2**63,
    -(2**63),
    -(2**63) - 1,
    10**30,
)
SCALARS: Sequence[Json] = (None, True, False, *INTEGERS, 0.5, 1e308, -0.0, *STRINGS)
LARGEST_KEY = 2**63 - 1


class Learned:
    """Values of members by their name, as the server answered with them."""

    def __init__(self) -> None:
        self._values: defaultdict[str, deque[Json]] = defaultdict(lambda: deque(maxlen=LEARNED))

    def learn(self, answer: Json, family: str, depth: int = 0) -> None:
        if depth > DEEPEST:
            return
        if isinstance(answer, dict):
            for name, value in answer.items():
                if isinstance(value, (str, int)) and len(str(value)) <= LONGEST_LEARNED:
                    self._values[_qualified(name, family)].append(value)
                self.learn(value, family, depth + 1)
        elif isinstance(answer, list):
            for value in answer[:LEARNED]:
                self.learn(value, family, depth + 1)

    def of(self, name: str, family: str) -> Sequence[Json]:
        return self._values.get(_qualified(name, family), ())


def _qualified(name: str, family: str) -> str:
    """Return a name that tells ids of one collection from those of another."""
    return f"{family}.{name}" if name in {"id", "name"} else name


class Values:
    """Values that a dice chooses."""

    def __init__(self, dice: Dice, document: Document, learned: Learned) -> None:
        self._dice = dice
        self._document = document
        self._learned = learned
        self._of_type: Mapping[str, Callable[[Schema, str, int], Json]] = {
            "object": self._object,
            "array": self._array,
            "string": self._string,
            "integer": self._integer,
            "number": lambda *_: self._dice.choice((0, 0.5, -1, 1e9)),
            "boolean": lambda *_: self._one_of(2),
            "null": lambda *_: None,
        }

    def of(self, schema: Schema, name: str, family: str, depth: int = 0) -> Json:
        """Return a value that the schema allows, except where its pattern is an unusual one."""
        schema = self._document.resolved(schema)
        if alternatives := schema.get("oneOf") or schema.get("anyOf"):
            return self.of(self._dice.choice(alternatives), name, family, depth)
        if choices := schema.get("enum") or [schema[name] for name in ("const",) if name in schema]:
            return self._dice.choice(choices)
        kinds = schema.get("type")
        if kinds is None:
            return self.free(depth)
        kind = self._dice.choice(kinds) if isinstance(kinds, list) else kinds
        known = self._learned.of(name, family) if kind in {"string", "integer"} else ()
        if known and not self._one_of(3):
            value = self._dice.choice(list(known))
            return str(value) if kind == "string" else value
        return self._of_type[kind](schema, family, depth)

    def free(self, depth: int = 0) -> Json:
        """Return any JSON."""
        turn = self._dice.between(0, 9)
        if depth > DEEPEST or turn < 6:
            return self._dice.choice(SCALARS)
        if turn < 8:
            return [self.free(depth + 1) for _ in range(self._dice.between(0, 3))]
        names = [self._dice.choice(("a", "b", "orderId", *STRINGS)) for _ in range(self._dice.between(0, 3))]
        return {name: self.free(depth + 1) for name in names}

    def string(self) -> str:
        return self._dice.choice(STRINGS)

    def _one_of(self, count: int) -> bool:
        return self._dice.between(1, count) == 1

    def _object(self, schema: Schema, family: str, depth: int) -> Json:
        properties: Mapping[str, Schema] = schema.get("properties", {})
        if not properties:
            return {self.string(): self.free(depth + 2) for _ in range(self._dice.between(0, 3))}
        required = set(schema.get("required", ()))
        # Of a filter with thirty members about three: conditions of all of them match nothing.
        rarity = max(2, len(properties) // 3) if depth <= DEEPEST else len(properties) * 10
        return {
            name: self.of(member, name, family, depth + 1)
            for name, member in properties.items()
            if name in required or self._one_of(rarity)
        }

    def _array(self, schema: Schema, family: str, depth: int) -> Json:
        least = schema.get("minItems", 0)
        most = min(schema.get("maxItems", 3), least + 3) if depth <= DEEPEST else least
        items = schema.get("items", {})
        found = [self.of(items, "", family, depth + 1) for _ in range(self._dice.between(least, most))]
        if schema.get("uniqueItems"):
            return list({json.dumps(item): item for item in found}.values())
        return found

    def _string(self, schema: Schema, *_: object) -> str:
        pattern = schema.get("pattern", "")
        if pattern == "^[1-9][0-9]*$":
            return str(self._dice.choice((1, 2**51 + 1, LARGEST_KEY)))
        if schema.get("format") == "date-time":
            return self._dice.choice(TIMES)
        least, most = schema.get("minLength", 0), schema.get("maxLength", LONG)
        if self._one_of(12):
            return "x" * min(most, LONG)
        return self.string().ljust(least, "y")[:most]

    def _integer(self, schema: Schema, *_: object) -> int:
        least = schema.get("minimum", schema.get("exclusiveMinimum", -3) + 1)
        most = schema.get("maximum", 2**31 - 1)
        if self._one_of(2):
            return min(max(self._dice.choice((0, 1, 2, 10, 100)), least), most)
        return self._dice.choice((least, most, self._dice.between(least, most)))
