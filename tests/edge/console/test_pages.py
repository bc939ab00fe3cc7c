"""Pages of the console, rendered without a server."""

import re
from pathlib import Path

import pytest
from aiohttp.test_utils import make_mocked_request
from lxml import html

from edge.console.addresses import address_of
from edge.console.element_templates import templates_in
from edge.console.pages.instances import NAMES
from edge.console.pages.models import KINDS
from edge.console.renderer import Renderer
from server.platform.languages import ENGLISH
from tests.server_process import ROOT

VIEWER = ("bpmn-navigated-viewer.production.min.js", "diagram-js.css", "bpmn-js.css")
STATIC = {path.name: f"/static/{path.name}" for path in Path(ROOT / "edge/console/static").iterdir()}


EDITOR = ("bpmn-editor.js", "bpmn-editor.css")


def frame(section: str) -> dict[str, object]:
    """The facts that every page of a person has."""
    return {
        "me": {"username": "ada", "displayName": None, "email": None},
        "tenant": "default",
        "tenants": ["default"],
        "csrf_token": "token",
        "issuer": "/auth/v1/",
        "section": section,
        "here": "/console/default/models/new/process",
        "done": "",
        "address": lambda *segments, **query: address_of("default", *segments, **query),
    }


def editor_page(editors: dict[str, str]) -> str:
    facts = {
        "kind": KINDS["process"],
        "heading": "New process",
        "file": "",
        "source": "",
        "version": "",
        "templates": templates_in(ENGLISH),
        "words": "/console/editors/process-en.json",
    }
    request = make_mocked_request("GET", "/")
    return str(
        Renderer(STATIC).page(request, "editor.html", {**frame("models"), **facts, "editors": editors}).text
    )


def process_page(assets: dict[str, str]) -> str:
    """Render the page of a process whose element `work` has two tokens."""
    elements = [{"elementId": "work", "active": 2, "incidents": 0, "completed": 0, "canceled": 0}]
    facts = {
        **frame("processes"),
        "definition": {
            "name": "Order",
            "processDefinitionId": "order",
            "processDefinitionKey": "1",
            "version": 1,
            "versionTag": None,
            "resourceName": "order.bpmn",
        },
        "versions": [],
        "elements": elements,
        "state": {"elements": elements, "flows": [], "isFinal": False},
    }
    return str(Renderer(assets).page(make_mocked_request("GET", "/"), "process.html", facts).text)


def test_without_the_viewer_a_page_has_its_table_and_says_how_to_get_diagrams() -> None:
    page = process_page(STATIC)

    assert "<code>make diagram</code> fetches it with npm" in page
    assert '<tr data-element="work">' in page
    assert "diagram.js" not in page


def test_with_the_viewer_a_page_loads_it_with_its_nonce() -> None:
    page = process_page({**STATIC, **{name: f"/diagram/{name}" for name in VIEWER}})

    assert "make diagram" not in page
    assert '<script defer src="/diagram/bpmn-navigated-viewer.production.min.js" nonce="' in page
    assert page.count('rel="stylesheet" href="/diagram/') == 2


@pytest.mark.parametrize("assets", [STATIC, {**STATIC, **dict.fromkeys(VIEWER, "/diagram/file")}])
def test_a_page_has_no_inline_script_or_style(assets: dict[str, str]) -> None:
    page = process_page(assets)

    assert " style=" not in page
    assert "<style" not in page
    assert re.search(r"<[^>]*\son\w+=", page) is None


def test_without_the_editors_a_page_says_how_to_get_them() -> None:
    page = editor_page({})

    assert "<code>make editors</code> fetches them with npm" in page
    assert "editor.js" not in page


def test_with_the_editors_a_page_loads_that_of_its_kind_with_its_nonce() -> None:
    page = editor_page({name: f"/editors/{name}" for name in (*EDITOR, "dmn-editor.js")})

    assert "make editors" not in page
    assert '<script defer src="/editors/bpmn-editor.js" nonce="' in page
    assert "dmn-editor" not in page
    assert " style=" not in page
    assert re.search(r"<[^>]*\son\w+=", page) is None


@pytest.mark.parametrize(
    ("has_more", "expected"),
    [
        pytest.param(False, "Instances 10,000", id="exact"),
        pytest.param(True, "Instances more than 10,000", id="a lower bound"),
    ],
)
def test_a_list_says_whether_its_total_is_a_lower_bound(*, has_more: bool, expected: str) -> None:
    facts = {
        **frame("instances"),
        "found": {
            "items": [],
            "page": {"totalItems": 10_000, "hasMoreTotalItems": has_more, "endCursor": None},
        },
        "asked": dict.fromkeys(NAMES, ""),
        "states": [],
        "problem": "",
        "has_more": False,
        "is_extended": False,
    }
    page = Renderer(STATIC).page(make_mocked_request("GET", "/"), "instances.html", facts)

    assert " ".join(html.document_fromstring(str(page.text)).xpath("string(//h1)").split()) == expected
