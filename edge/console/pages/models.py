"""Editors of processes, decisions and forms: a new model, or that of a deployed definition.

The editors are scripts in the browser. They call the HTTP API with the session of the person, as programs do.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import orjson
from aiohttp import web

from edge.assets import Assets
from edge.console.addresses import START, address_of
from edge.console.api import Document
from edge.console.editor_words import words_in
from edge.console.element_templates import templates_in
from edge.console.finding_words import finding_words_in
from edge.console.pages.live import saved
from edge.console.visit import Visit
from server.platform.errors import NotFound
from server.platform.languages import Language, languages, marked

EDITORS: Final = f"{START}editors"

_FOLDER = Path(__file__).parent.parent / "editors"


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of model; `ending` is that of its files, and `editor` the name of the editor's files of npm."""

    name: str
    ending: str
    editor: str
    heading: str


KINDS: Final[Mapping[str, Kind]] = {
    kind.name: kind
    for kind in (
        Kind("process", ".bpmn", "bpmn-editor", marked("New process")),
        Kind("decision", ".dmn", "dmn-editor", marked("New decision")),
        Kind("form", ".form", "form-editor", marked("New form")),
    )
}


@cache
def editor_files() -> Assets:
    """Read and compress the files at the first request, because most sessions never open an editor.

    Files of npm are absent where npm was absent at set-up. A further file has the words of an editor in a language.
    """
    words = {
        _words_of(kind, language): orjson.dumps(
            {"words": words_in(language, kind.name), "findings": finding_words_in(language, kind.name)}
        )
        for kind in KINDS.values()
        for language in languages()
    }
    return Assets(_FOLDER, EDITORS, words)


def _words_of(kind: Kind, language: Language) -> str:
    return f"{kind.name}-{language.tag}.json"


async def editor_file(request: web.Request) -> web.StreamResponse:
    files = await asyncio.to_thread(editor_files)
    found = files.get(request)
    if found is None:
        raise NotFound("there is no such file")
    return found


async def models(visit: Visit) -> web.Response:
    """Links to new models, and the drafts of this tab."""
    return visit.page("models.html", "models", kinds=KINDS.values())


async def new_model(visit: Visit) -> web.Response:
    kind = KINDS.get(visit.request.match_info["kind"])
    if kind is None:
        raise NotFound("there is no such kind of model")
    return await _editor(
        visit, kind, heading=visit.language.translated(kind.heading), file="", source="", version=""
    )


async def process_editor(visit: Visit) -> web.Response:
    """The model of one version of a process; a deployment makes the next version."""
    definition = await visit.api("GetProcessDefinition", process_definition_key=visit.key)
    return await _editor(
        visit,
        KINDS["process"],
        heading=definition["name"] or definition["processDefinitionId"],
        file=definition["resourceName"],
        source=address_of(visit.tenant, "processes", visit.key, "model"),
        version=str(definition["version"]),
    )


async def decision_editor(visit: Visit) -> web.Response:
    """The model that one version of a decision belongs to."""
    definition = await visit.api("GetDecisionDefinition", decision_definition_key=visit.key)
    return await _editor(
        visit,
        KINDS["decision"],
        heading=definition["decisionRequirementsName"] or definition["decisionRequirementsId"],
        file=f"{definition['decisionRequirementsId']}.dmn",
        source=address_of(visit.tenant, "decisions", visit.key, "model"),
        version=str(definition["decisionRequirementsVersion"]),
    )


async def start_form_editor(visit: Visit) -> web.Response:
    """The start form of a process."""
    form = await _start_form(visit)
    return await _editor(
        visit,
        KINDS["form"],
        heading=form["formId"],
        file=f"{form['formId']}.form",
        source=address_of(visit.tenant, "processes", visit.key, "start-form"),
        version=str(form["version"]),
    )


async def start_form(visit: Visit) -> web.Response:
    """The file of the start form of a process, which browsers save and never show."""
    form = await _start_form(visit)
    return saved(form["schema"], f"{form['formId']}.form")


async def _start_form(visit: Visit) -> Document:
    form = await visit.api("GetStartProcessForm", process_definition_key=visit.key)
    if form is None:
        raise NotFound("the process has no start form")
    return form


async def _editor(
    visit: Visit, kind: Kind, *, heading: str, file: str, source: str, version: str
) -> web.Response:
    """`source` is the address of the model, empty for a new one."""
    files = await asyncio.to_thread(editor_files)
    return visit.page(
        "editor.html",
        "models",
        kind=kind,
        heading=heading,
        file=file,
        source=source,
        version=version,
        editors=files.addresses,
        templates=templates_in(visit.language) if kind is KINDS["process"] else [],
        words=files.addresses[_words_of(kind, visit.language)],
    )
