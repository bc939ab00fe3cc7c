"""Every text that people see is marked for the catalogues."""

from pathlib import Path

import pytest

from tests.languages.texts import ROOT, unmarked_in_module, unmarked_in_script, unmarked_in_template

PAGES = ROOT / "edge/oidc/pages"
TEMPLATES = sorted(PAGES.glob("templates/*.html"))
SCRIPTS = sorted(path for path in PAGES.glob("static/*.js") if path.name != "proof_of_work.js")
MODULES = sorted([*PAGES.glob("*.py"), *(ROOT / "edge/oidc/people").glob("*.py")])


def named(path: Path) -> str:
    return f"{path.parent.parent.name}/{path.name}"


@pytest.mark.parametrize("path", TEMPLATES, ids=named)
def test_a_template_has_no_text_outside_of_translations(path: Path) -> None:
    assert unmarked_in_template(path) == []


@pytest.mark.parametrize("path", SCRIPTS, ids=named)
def test_a_script_has_no_sentence_outside_of_translations(path: Path) -> None:
    assert unmarked_in_script(path) == []


@pytest.mark.parametrize("path", MODULES, ids=named)
def test_a_module_of_pages_has_no_sentence_outside_of_translations(path: Path) -> None:
    assert unmarked_in_module(path) == []


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("<p>Sign in</p>", id="text"),
        pytest.param('<p><input placeholder="My phone"></p>', id="attribute"),
        pytest.param('{{ "Sign in" if x else "Go" }}', id="expression"),
        pytest.param('{% set words = {"a": "Sign in now"} %}', id="constant"),
    ],
)
def test_an_unmarked_text_of_a_template_is_found(tmp_path: Path, source: str) -> None:
    path = tmp_path / "page.html"
    path.write_text(source)

    assert unmarked_in_template(path) != []


def test_an_unmarked_text_of_a_script_is_found(tmp_path: Path) -> None:
    path = tmp_path / "page.js"
    path.write_text('"use strict"; tell({ progress: "One moment …" }); tell(_("One moment …"));')

    assert unmarked_in_script(path) == ['"One moment …"']
