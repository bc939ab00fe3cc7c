"""DMN files of a deployment: read, linted and compiled, each with the models that it imports.

Each file is parsed once.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from server.dmn import DmnReadError
from server.dmn.document import parse
from server.dmn.model import Definitions
from server.dmn.reader import definitions_of
from server.engine.definitions import DecisionFile, compiled_decisions
from server.engine.deployment_commands import DecisionModel, NamedDecision
from server.feel import DialectName
from server.lint.linter import describe, lint_decisions, lint_unread_decisions, refusals, unreadable
from server.partition.config import DialectChoice
from server.xml import Markup

DMN_ENDING = ".dmn"

_CAMUNDA = ("http://camunda.org/schema/", "https://camunda.org/schema/")

Files = Sequence[tuple[str, bytes]]


def decision_models(files: Files, dialect: DialectChoice, problems: list[str]) -> list[DecisionModel]:
    """The deployable models; findings about the others are appended to `problems`."""
    models = [model for name, content in files if (model := _read(name, content, problems))]
    given = {model.definitions.namespace: model for model in models}
    found = (_deployable(model, given, problems, dialect=dialect) for model in models)
    return [model for model in found if model is not None]


@dataclass(frozen=True, slots=True)
class _Model:
    """A parsed file: `root` is its XML tree, `definitions` its decoded content."""

    name: str
    content: bytes
    root: Markup
    definitions: Definitions

    @property
    def file(self) -> DecisionFile:
        return DecisionFile(self.content, self.definitions)


def _read(name: str, content: bytes, problems: list[str]) -> _Model | None:
    try:
        document = parse(content)
    except DmnReadError as error:
        problems.append(describe((unreadable(error),), name))
        return None
    try:
        return _Model(name, content, document.root, definitions_of(document))
    except DmnReadError as error:
        problems.append(describe(lint_unread_decisions(document.root, error), name))
        return None


def _deployable(
    model: _Model, given: Mapping[str, _Model], problems: list[str], *, dialect: DialectChoice
) -> DecisionModel | None:
    definitions, imported = model.definitions, _imported(model, given)
    chosen = _dialect(definitions, dialect)
    compiled = partial(compiled_decisions, model.file, tuple(each.file for each in imported), chosen)
    findings = refusals(lint_decisions(model.root, compiled))
    if findings:
        problems.append(describe(findings, model.name))
        return None
    imports = tuple(each.content for each in imported)
    return DecisionModel(
        name=model.name,
        content=model.content,
        checksum=_checksum(model.content, *imports),
        imports=imports,
        dialect=chosen,
        decision_requirements_id=definitions.definition_id,
        decision_requirements_name=definitions.name,
        decisions=tuple(
            NamedDecision(outline.id, outline.name, definitions.version_tags.get(outline.id))
            for outline in compiled().outlines
        ),
    )


def _imported(model: _Model, given: Mapping[str, _Model]) -> list[_Model]:
    """The models of the deployment that this one imports, directly or indirectly."""
    found: dict[str, _Model] = {}
    waiting = [each.namespace for each in model.definitions.imports]
    while waiting:
        namespace = waiting.pop()
        if namespace in given and namespace not in found and namespace != model.definitions.namespace:
            found[namespace] = given[namespace]
            waiting += [each.namespace for each in given[namespace].definitions.imports]
    return [found[namespace] for namespace in sorted(found)]


def _dialect(definitions: Definitions, choice: DialectChoice) -> DialectName:
    """The dialect of a file: with `auto`, a file that names a Camunda schema is in Camunda's dialect."""
    if choice is not DialectChoice.AUTO:
        return "camunda" if choice is DialectChoice.CAMUNDA else "standard"
    namespaces = (definitions.namespace, *definitions.prefixes.values())
    return "camunda" if any(each.startswith(_CAMUNDA) for each in namespaces) else "standard"


def _checksum(*contents: bytes) -> str:
    return hashlib.sha256(b"\0".join(contents)).hexdigest()
