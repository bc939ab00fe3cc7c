"""This program reads the pages of process instances in every format that has pages.

`document_pages.json` has pages by format and number, in hexadecimal, as the first program of each format wrote them: what
is there never changes. All are of one process instance, which has two large values and a small one.
"""

import json
from pathlib import Path

import pytest

from server.engine.documents import FORMAT, unpack
from server.engine.pages import StoredPage
from tests.server.engine.stored import pages_of

WRITTEN = json.loads(Path(__file__).with_name("document_pages.json").read_text())
VARIABLES = {"report": f'"{"large" * 300}"', "total": "5", "notes": f'"{"x" * 1_100}"'}


def written(number: str) -> dict[int, StoredPage]:
    return {
        int(page): StoredPage(packed["format"], bytes.fromhex(packed["content"]))
        for page, packed in WRITTEN[number].items()
    }


@pytest.mark.parametrize("number", list(WRITTEN))
def test_pages_of_each_format_are_read(number: str) -> None:
    instance = unpack(written(number))

    found = {name: each.value for name, each in instance.variables[instance.head.key].items()}
    assert list(found.items()) == list(VARIABLES.items())
    assert [element.element_id for element in instance.elements.values()] == ["order", "pack"]
    assert [job.type for job in instance.jobs.values()] == ["pack"]


@pytest.mark.parametrize("number", list(WRITTEN))
def test_they_are_written_in_the_latest_format(number: str) -> None:
    pages = pages_of(unpack(written(number)))

    latest = written(str(FORMAT))
    assert {key: page.format for key, page in pages.items()} == {
        key: page.format for key, page in latest.items()
    }
    assert unpack(pages) == unpack(latest)
