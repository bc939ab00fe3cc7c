"""Loops pause after a failure by one back-off: longer with each failure, and spread by chance."""

import ast
from collections.abc import Iterator
from pathlib import Path

import edge
import identity
import server

ROOTS = [Path(package.__file__ or "").parent for package in (server, identity, edge)]


def pauses_of_its_own(source: str) -> Iterator[int]:
    """Lines on which something sleeps after an error for a time that is not of a back-off."""
    handlers = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ExceptHandler))
    for call in (node for handler in handlers for node in ast.walk(handler) if isinstance(node, ast.Call)):
        is_sleep = ast.unparse(call.func) == "asyncio.sleep"
        if is_sleep and not (isinstance(call.args[0], ast.Call) and "back_off" in ast.unparse(call).lower()):
            yield call.lineno


def test_a_pause_of_its_own_is_found() -> None:
    written = "try:\n    work()\nexcept OSError:\n    await asyncio.sleep(%s)\n"

    assert list(pauses_of_its_own(written % "RETRY_SECONDS")) == [4]
    assert list(pauses_of_its_own(written % "_BACK_OFF.seconds(failures)")) == []


def test_no_loop_pauses_after_a_failure_in_a_way_of_its_own() -> None:
    modules = [module for root in ROOTS for module in root.rglob("*.py")]
    found = {str(module): list(pauses_of_its_own(module.read_text())) for module in modules}

    assert found
    assert {module: lines for module, lines in found.items() if lines} == {}
