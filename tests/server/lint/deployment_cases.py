"""For every rule about deployments and generic resources the files that break it and their mended twins."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from server.bpmn.builder import ProcessBuilder, process
from server.lint.rules.deployments import MAX_FLOW_ELEMENTS, MAX_RESOURCE_BYTES, MAX_RESOURCE_ID_LENGTH

File = tuple[str, bytes]


@dataclass(frozen=True, slots=True)
class Case:
    broken: Sequence[File]
    mended: Sequence[File]


def _files(name: str, *contents: bytes) -> Sequence[File]:
    return [(f"{number}-{name}", content) for number, content in enumerate(contents)]


def _process(process_id: str) -> bytes:
    return process(process_id).end().to_xml()


def _line(nodes: int) -> bytes:
    """As many nodes one after the other, with the flows between them."""
    built: ProcessBuilder = process("line").start()
    for number in range(nodes - 2):
        built = built.task(f"t{number}")
    return built.end().to_xml()


def _graph(graph_id: str, decision_id: str) -> bytes:
    return (
        f'<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" id="{graph_id}" name="g"'
        f' namespace="urn:{graph_id}"><decision id="{decision_id}" name="d"><literalExpression><text>1</text>'
        "</literalExpression></decision></definitions>"
    ).encode()


def _form(form_id: str, title: str = "") -> bytes:
    return f'{{"id": "{form_id}", "title": "{title}"}}'.encode()


def _rpa(resource_id: str, script: str = "") -> bytes:
    return f'{{"id": "{resource_id}", "script": "{script}"}}'.encode()


_NODES = MAX_FLOW_ELEMENTS // 2
_LONGEST = "i" * MAX_RESOURCE_ID_LENGTH

CASES: Mapping[str, Case] = {
    "process-id-unique": Case(
        _files("a.bpmn", _process("a"), _process("a")), _files("a.bpmn", _process("a"), _process("b"))
    ),
    "drg-id-unique": Case(
        _files("a.dmn", _graph("a", "x"), _graph("a", "y")),
        _files("a.dmn", _graph("a", "x"), _graph("b", "y")),
    ),
    "decision-id-unique": Case(
        _files("a.dmn", _graph("a", "x"), _graph("b", "x")),
        _files("a.dmn", _graph("a", "x"), _graph("b", "y")),
    ),
    "form-id-unique": Case(
        _files("a.form", _form("a"), _form("a", "other")), _files("a.form", _form("a"), _form("b"))
    ),
    "resource-id-unique": Case(
        _files("a.rpa", _rpa("a"), _rpa("a", "other")), _files("a.rpa", _rpa("a"), _rpa("b"))
    ),
    "flow-element-count": Case(_files("a.bpmn", _line(_NODES + 1)), _files("a.bpmn", _line(_NODES))),
    "resource-text": Case(_files("a.py", b"a\0b"), _files("a.py", b"a")),
    "resource-size": Case(
        _files("a.py", b" " * (MAX_RESOURCE_BYTES + 1)), _files("a.py", b" " * MAX_RESOURCE_BYTES)
    ),
    "rpa-readable": Case(_files("a.rpa", b'["a"]'), _files("a.rpa", _rpa("a"))),
    "rpa-id": Case(_files("a.rpa", _rpa(" ")), _files("a.rpa", _rpa("a"))),
    "rpa-id-length": Case(_files("a.rpa", _rpa(_LONGEST + "i")), _files("a.rpa", _rpa(_LONGEST))),
}
