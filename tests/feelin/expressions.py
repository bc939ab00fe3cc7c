"""Random expressions of the forms that every FEEL engine has, with contexts to evaluate them in.

Integers, strings, booleans, null, lists and contexts; paths, filters, `if`, `for`, `some`, `every`, logic and
comparisons. Most operands are of the kind that is asked for; one in `ODD` is of any kind, so that null and failures
are compared too.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from server.feel import Value
from tests.campaigns.dice import Dice

DEPTH = 4
ODD = 25
WORDS = ("", "a", "b", "ab", "abc", "z", "Ada", "x y")
_COMPARISONS = ("=", "!=", "<", "<=", ">", ">=")
_VARIABLES: Mapping[str, tuple[str, ...]] = {
    "number": ("a", "b", "c.a", "c.inner.a"),
    "string": ("s", "t", "c.s"),
    "boolean": ("p", "q", "c.p"),
    "null": ("null", "n", "c.n"),
    "numbers": ("xs", "c.xs", "cs.a"),
    "strings": ("ss", "cs.s"),
    "context": ("c", "c.inner"),
    "contexts": ("cs", "c.cs"),
}
_KINDS = tuple(_VARIABLES)


def random_context(dice: Dice) -> dict[str, Value]:
    return {
        **_scalars(dice),
        "b": dice.between(-9, 9),
        "t": dice.choice(WORDS),
        "q": dice.choice([True, False]),
        "xs": [dice.between(-9, 9) for _ in range(dice.between(0, 4))],
        "ss": [dice.choice(WORDS) for _ in range(dice.between(0, 4))],
        "c": {
            **_scalars(dice),
            "xs": [dice.between(-9, 9) for _ in range(dice.between(0, 4))],
            "inner": _scalars(dice),
            "cs": [_scalars(dice) for _ in range(dice.between(0, 2))],
        },
        "cs": [_scalars(dice) for _ in range(dice.between(0, 3))],
    }


def _scalars(dice: Dice) -> dict[str, Value]:
    return {
        "a": dice.between(-9, 9),
        "s": dice.choice(WORDS),
        "p": dice.choice([True, False]),
        "n": None,
    }


def random_expression(dice: Dice) -> str:
    return Writer(dice).any(DEPTH)


@dataclass(slots=True)
class Writer:
    """`bound` are the names that loops around here have bound, by their kind."""

    dice: Dice
    bound: list[tuple[str, str]] = field(default_factory=list)

    def any(self, depth: int) -> str:
        return self.of(self.dice.choice(_KINDS), depth)

    def of(self, kind: str, depth: int) -> str:
        if self.dice.between(1, ODD) == 1:
            kind = self.dice.choice(_KINDS)
        if depth == 0 or self.dice.between(1, 4) == 1:
            return self._leaf(kind)
        forms = {**_FORMS[kind], **_FORMS_OF_ALL}
        return self.dice.choice([*forms.values()])(self, kind, depth - 1)

    def _leaf(self, kind: str) -> str:
        names = [*_VARIABLES[kind], *(name for name, each in self.bound if each == kind)]
        return self.dice.choice([*names, self._literal(kind)])

    def _literal(self, kind: str) -> str:
        if kind.endswith("s"):
            items = [self._literal(kind.removesuffix("s")) for _ in range(self.dice.between(0, 3))]
            return f"[{', '.join(items)}]"
        if kind == "context":
            return f"{{a: {self._literal('number')}, s: {self._literal('string')}, p: {self._literal('boolean')}}}"
        literals = {
            "number": str(self.dice.between(0, 12)),
            "string": f'"{self.dice.choice(WORDS)}"',
            "boolean": self.dice.choice(["true", "false"]),
            "null": "null",
        }
        return literals[kind]

    def inside(self, name: str, kind: str, write: Callable[[], str]) -> str:
        """Write what is evaluated for each item of a list of that kind."""
        self.bound.append((name, kind))
        try:
            return write()
        finally:
            self.bound.pop()

    def fresh(self) -> str:
        return f"v{len(self.bound)}"


def _if(writer: Writer, kind: str, depth: int) -> str:
    test = writer.of("boolean", depth)
    return f"(if {test} then {writer.of(kind, depth)} else {writer.of(kind, depth)})"


def _sum(writer: Writer, kind: str, depth: int) -> str:
    operator = writer.dice.choice(["+", "-", "*"])
    return f"({writer.of(kind, depth)} {operator} {writer.of(kind, depth)})"


def _negative(writer: Writer, kind: str, depth: int) -> str:
    return f"-({writer.of(kind, depth)})"


def _joined(writer: Writer, kind: str, depth: int) -> str:
    return f"({writer.of(kind, depth)} + {writer.of(kind, depth)})"


def _comparison(writer: Writer, _kind: str, depth: int) -> str:
    kind = writer.dice.choice(["number", "number", "string"])
    operator = writer.dice.choice(_COMPARISONS)
    return f"({writer.of(kind, depth)} {operator} {writer.of(kind, depth)})"


def _equality(writer: Writer, _kind: str, depth: int) -> str:
    kind, operator = writer.dice.choice(_KINDS), writer.dice.choice(["=", "!="])
    return f"({writer.of(kind, depth)} {operator} {writer.of(kind, depth)})"


def _logic(writer: Writer, kind: str, depth: int) -> str:
    operator = writer.dice.choice(["and", "or"])
    return f"({writer.of(kind, depth)} {operator} {writer.of(kind, depth)})"


def _between(writer: Writer, _kind: str, depth: int) -> str:
    low, high = writer.of("number", depth), writer.of("number", depth)
    return f"({writer.of('number', depth)} between {low} and {high})"


def _among(writer: Writer, _kind: str, depth: int) -> str:
    low = writer.dice.between(-5, 5)
    tests = writer.dice.choice(["(1, 2, 3)", f"[{low}..{low + 5}]", f"({low}..{low + 5})", "(< 3, > 7)"])
    return f"({writer.of('number', depth)} in {tests})"


def _quantified(writer: Writer, _kind: str, depth: int) -> str:
    word, items = writer.dice.choice(["some", "every"]), writer.dice.choice(["numbers", "strings"])
    name, source = writer.fresh(), writer.of(items, depth)
    test = writer.inside(name, items.removesuffix("s"), lambda: writer.of("boolean", depth))
    return f"({word} {name} in {source} satisfies {test})"


def _for(writer: Writer, kind: str, depth: int) -> str:
    items = writer.dice.choice(["numbers", "strings", "contexts"])
    name, source = writer.fresh(), writer.of(items, depth)
    result = writer.inside(name, items.removesuffix("s"), lambda: writer.of(kind.removesuffix("s"), depth))
    return f"(for {name} in {source} return {result})"


def _for_range(writer: Writer, kind: str, depth: int) -> str:
    name, start = writer.fresh(), writer.dice.between(-2, 3)
    result = writer.inside(name, "number", lambda: writer.of(kind.removesuffix("s"), depth))
    return f"(for {name} in {start}..{start + writer.dice.between(0, 3)} return {result})"


def _listed(writer: Writer, kind: str, depth: int) -> str:
    items = [writer.of(kind.removesuffix("s"), depth) for _ in range(writer.dice.between(0, 3))]
    return f"[{', '.join(items)}]"


def _filtered(writer: Writer, kind: str, depth: int) -> str:
    test = writer.inside("item", kind.removesuffix("s"), lambda: writer.of("boolean", depth))
    return f"{writer.of(kind, depth)}[{test}]"


def _filtered_by_entry(writer: Writer, kind: str, depth: int) -> str:
    entry, wanted = writer.dice.choice([("a", "number"), ("s", "string")])
    operator = writer.dice.choice(_COMPARISONS)
    return f"{writer.of(kind, depth)}[{entry} {operator} {writer.of(wanted, depth)}]"


def _indexed(writer: Writer, kind: str, depth: int) -> str:
    return f"{writer.of(f'{kind}s', depth)}[{writer.dice.choice([1, 2, 3, -1, -2])}]"


def _context(writer: Writer, _kind: str, depth: int) -> str:
    return f"{{a: {writer.of('number', depth)}, s: {writer.of('string', depth)}, p: {writer.of('boolean', depth)}}}"


def _entry(name: str) -> Callable[[Writer, str, int], str]:
    return lambda writer, _kind, depth: f"{writer.of('context', depth)}.{name}"


def _entries(name: str) -> Callable[[Writer, str, int], str]:
    return lambda writer, _kind, depth: f"{writer.of('contexts', depth)}.{name}"


_Form = Callable[[Writer, str, int], str]
_FORMS_OF_ALL: Mapping[str, _Form] = {"if": _if}
_LISTS: Mapping[str, _Form] = {"for": _for, "range": _for_range, "list": _listed, "filter": _filtered}
_FORMS: Mapping[str, Mapping[str, _Form]] = {
    "number": {"sum": _sum, "negative": _negative, "index": _indexed, "entry": _entry("a")},
    "string": {"joined": _joined, "index": _indexed, "entry": _entry("s")},
    "boolean": {
        "comparison": _comparison,
        "equality": _equality,
        "logic": _logic,
        "between": _between,
        "among": _among,
        "quantified": _quantified,
        "entry": _entry("p"),
    },
    "null": {"entry": _entry("missing")},
    "numbers": {**_LISTS, "entries": _entries("a")},
    "strings": {**_LISTS, "entries": _entries("s")},
    "context": {"context": _context, "index": _indexed},
    "contexts": {**_LISTS, "filter by entry": _filtered_by_entry},
}
