"""Links between our documents, and to their headings."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.screenshots import IMAGES, OF_README
from tests.docs.markdown import ROOT

DOCUMENTS = [
    *ROOT.glob("*.md"),
    *ROOT.glob("docs/**/*.md"),
    *ROOT.glob("deploy/**/*.md"),
    *ROOT.glob("examples/**/*.md"),
]

_CODE = re.compile(r"^```.*?^```$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\((?P<path>[^)#\s]*)(?:#(?P<heading>[^)\s]*))?\)")
_HEADING = re.compile(r"^#+ (?P<text>.*)$", re.MULTILINE)
_NO_PART_OF_AN_ANCHOR = re.compile(r"[^\w\- ]")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: str(document.relative_to(ROOT)))
def test_a_document_links_to_what_exists(document: Path) -> None:
    assert list(broken_links(document)) == []


def test_pictures_of_the_readme_are_those_that_make_takes() -> None:
    shown = re.findall(r'(?:src|srcset)="docs/images/([^"]+)"', (ROOT / "README.md").read_text())

    assert sorted(shown) == sorted(picture.name for picture in IMAGES.glob("*.png"))
    assert {picture.rpartition(".desktop")[0] or picture.rpartition(".dark")[0] for picture in shown} == set(
        OF_README
    )


def test_the_index_names_every_page() -> None:
    index = (ROOT / "docs/README.md").read_text()

    missing = [page.name for page in ROOT.glob("docs/*.md") if f"({page.name})" not in index]

    assert missing == ["README.md"]


def broken_links(document: Path) -> Iterator[str]:
    for link in _LINK.finditer(_CODE.sub("", document.read_text())):
        if "://" not in link[0] and not link["path"].startswith("mailto:"):
            target = document.parent / link["path"] if link["path"] else document
            if not target.exists() or (link["heading"] and link["heading"] not in anchors(target)):
                yield link[0]


def anchors(document: Path) -> set[str]:
    """Anchors of headings as code hosts make them: lower case, without punctuation, hyphens for spaces."""
    headings = (heading["text"] for heading in _HEADING.finditer(document.read_text()))
    return {_NO_PART_OF_AN_ANCHOR.sub("", heading).strip().lower().replace(" ", "-") for heading in headings}
