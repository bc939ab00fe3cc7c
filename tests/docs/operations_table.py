"""The tables of docs/api.md: every operation with its RPC, its golden exchange in each mode and its tests."""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from edge.contract import Route, routes
from server.platform.policy import Mode
from tests.docs.markdown import ROOT

BEGIN = "<!-- operations: generated, `make golden` -->\n"
END = "<!-- /operations -->\n"

LIST = ROOT / "tests/docs/camunda-8.9-operations.txt"
EXCHANGES = ROOT / "tests/end_to_end/exchanges"
# Tests of RPCs: the first folder runs each over memory and PostgreSQL.
TESTED_IN = ("tests/server/rpc", "tests/identity", "tests/end_to_end")

# To build one of these, remove its line; a new line is a new gap.
NOT_SERVED: list[str] = []
OWN = "Beside Camunda's"

_HEAD = "| operation | method and path | RPC | exchange in memory | exchange durably | tests |\n|---|---|---|---|---|---|"
_VARIABLE = re.compile(r"\{[^{}]*\}")


@dataclass(frozen=True)
class Operation:
    """One operation of Camunda 8.9, or one of ours beside them."""

    family: str
    method: str
    path: str
    id: str

    @property
    def address(self) -> str:
        return f"{self.method} {_VARIABLE.sub('{}', self.path)}"


def camunda_operations() -> Iterator[Operation]:
    family = ""
    for line in LIST.read_text().splitlines():
        if line.startswith("# "):
            family = line.removeprefix("# ")
        elif line:
            yield Operation(family, *line.split(" "))


def own_operations() -> Iterator[Operation]:
    known = {operation.address for operation in camunda_operations()}
    for address, route in served().items():
        if address not in known:
            yield Operation(OWN, route.method, _path(route), route.operation_id)


@cache
def served() -> Mapping[str, Route]:
    """Routes by their method and path, whose variables have no names."""
    return {f"{route.method} {_VARIABLE.sub('{}', route.path)}": route for route in routes()}


def operations_tables() -> str:
    every = [*camunda_operations(), *own_operations()]
    families = dict.fromkeys(operation.family for operation in every)
    return "\n".join(
        "\n".join([f"\n## {family}\n", _HEAD, *(_row(it) for it in every if it.family == family), ""])
        for family in families
    )


def _row(operation: Operation) -> str:
    route = served().get(operation.address)
    named = f"`{operation.id}` | `{operation.method} {operation.path}`"
    if route is None:
        return f"| {named} | not served | | | |"
    links = (_exchange_link(route, mode) for mode in (Mode.EMBEDDED, Mode.BUNDLED))
    tests = "<br>".join(f"`{file}`" for file in tests_of(route)[:2])
    return f"| {named} | `{route.policy.descriptor.full_name}` | {' | '.join(links)} | {tests} |"


def _exchange_link(route: Route, mode: Mode) -> str:
    file = exchange_of(route, mode)
    if file is None:
        return "not in this mode" if mode not in route.policy.modes else "none"
    return f"[{file.stem}](../{file.relative_to(ROOT)})"


def exchange_of(route: Route, mode: Mode) -> Path | None:
    """File of the first exchange in which the operation succeeds in this mode."""
    return next((file for file, (at, status) in _played(mode).items() if at is route and status < 400), None)


@cache
def _played(mode: Mode) -> Mapping[Path, tuple[Route | None, int]]:
    files = {file.name: file for file in sorted(EXCHANGES.glob("*.http"))}
    if mode is not Mode.EMBEDDED:
        files |= {file.name: file for file in sorted((EXCHANGES / mode).glob("*.http"))}
    return {file: _exchange(file.read_text()) for file in files.values()}


def _exchange(text: str) -> tuple[Route | None, int]:
    """Return the route that the request meets, and the status of the answer."""
    method, address = text.partition("\n")[0].split(" ")
    path = address.partition("?")[0]
    fitting = [route for route in routes() if route.method == method and _pattern(route).fullmatch(path)]
    status = re.search(r"^(\d{3})$", text, re.MULTILINE)
    assert status is not None, text
    return min(fitting, key=lambda route: route.path.count("{"), default=None), int(status[1])


@cache
def _pattern(route: Route) -> re.Pattern[str]:
    return re.compile("[^/]+".join(re.escape(part) for part in _VARIABLE.split(route.path)))


def _path(route: Route) -> str:
    names = {field.name: field.json_name for field in route.path_fields}
    return route.path.format_map({name: f"{{{json_name}}}" for name, json_name in names.items()})


def tests_of(route: Route) -> list[str]:
    """Files of tests that call the RPC by its name."""
    return [file for folder in TESTED_IN for file in _files(folder) if route.policy.name in _words(file)]


@cache
def _files(folder: str) -> list[str]:
    found = sorted((ROOT / folder).rglob("test_*.py"))
    return [str(file.relative_to(ROOT)) for file in found]


@cache
def _words(file: str) -> frozenset[str]:
    """Strings and attributes of a file, as an RPC is named by either."""
    nodes = list(ast.walk(ast.parse((ROOT / file).read_text())))
    attributes = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    strings = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return frozenset(attributes | strings)
