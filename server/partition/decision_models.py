"""The files of a deployment that hold decisions: read, linted and compiled, each with the models that it imports."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from server.dmn import DmnReadError
from server.dmn.model import Definitions
from server.dmn.reader import read
from server.engine.commands import DecisionModel, NamedDecision
from server.engine.definitions import compiled_decisions
from server.feel import DialectName
from server.lint.linter import describe, lint_decisions, refusals
from server.partition.config import DialectChoice

DMN_ENDING = ".dmn"

_CAMUNDA = ("http://camunda.org/schema/", "https://camunda.org/schema/")

Files = Sequence[tuple[str, bytes]]


def decision_models(files: Files, dialect: DialectChoice, problems: list[str]) -> list[DecisionModel]:
    """Those that can be deployed; what is wrong with the others goes to the problems."""
    given = dict(_read(files))
    found = (_model(name, content, given, problems, dialect=dialect) for name, content in files)
    return [model for model in found if model is not None]


def _read(files: Files) -> Iterator[tuple[str, tuple[Definitions, bytes]]]:
    """Models by namespace, as far as they can be read."""
    for _, content in files:
        try:
            definitions = read(content)
        except DmnReadError:
            continue
        yield definitions.namespace, (definitions, content)


def _model(
    name: str,
    content: bytes,
    given: Mapping[str, tuple[Definitions, bytes]],
    problems: list[str],
    *,
    dialect: DialectChoice,
) -> DecisionModel | None:
    try:
        definitions: Definitions | None = read(content)
    except DmnReadError:
        definitions = None
    imports = _imports(definitions, given) if definitions is not None else ()
    chosen = _dialect(definitions, dialect) if definitions is not None else "camunda"
    compiled = partial(compiled_decisions, content, imports, chosen)
    findings = refusals(lint_decisions(content, compiled))
    if findings or definitions is None:
        problems.append(describe(findings, name))
        return None
    return DecisionModel(
        name=name,
        content=content,
        checksum=_checksum(content, *imports),
        imports=imports,
        dialect=chosen,
        decision_requirements_id=definitions.id,
        decision_requirements_name=definitions.name,
        decisions=tuple(NamedDecision(outline.id, outline.name) for outline in compiled().outlines),
    )


def _imports(definitions: Definitions, given: Mapping[str, tuple[Definitions, bytes]]) -> tuple[bytes, ...]:
    """Contents of the models that this one imports, and that those import, as far as they are in the deployment."""
    found: dict[str, bytes] = {}
    waiting = [each.namespace for each in definitions.imports]
    while waiting:
        namespace = waiting.pop()
        if namespace in given and namespace not in found and namespace != definitions.namespace:
            imported, found[namespace] = given[namespace]
            waiting += [each.namespace for each in imported.imports]
    return tuple(found[namespace] for namespace in sorted(found))


def _dialect(definitions: Definitions, choice: DialectChoice) -> DialectName:
    """A file that names a schema of Camunda was written for it."""
    if choice is not DialectChoice.AUTO:
        return "camunda" if choice is DialectChoice.CAMUNDA else "standard"
    namespaces = (definitions.namespace, *definitions.prefixes.values())
    return "camunda" if any(each.startswith(_CAMUNDA) for each in namespaces) else "standard"


def _checksum(*contents: bytes) -> str:
    return hashlib.sha256(b"\0".join(contents)).hexdigest()
