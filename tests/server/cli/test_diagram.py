"""`gnomon diagram`: pictures of files, of process definitions and of process instances."""

import io
import json
import uuid
from pathlib import Path

import pytest
from lxml import etree
from PIL import Image

from tests.server.cli.conftest import Gnomon

FILE = "examples/order-fulfilment.bpmn"
ORDER = {"order": {"number": 1, "customer": "c-1", "items": [{"quantity": 2, "price": 1.5}]}}


def texts(svg: str) -> list[str]:
    return [str(each.text) for each in etree.fromstring(svg.encode()).iter("{*}text")]


def taken(svg: str) -> int:
    """The number of lines of the path that an instance took."""
    return len(etree.fromstring(svg.encode()).xpath("//*[local-name()='polyline'][@stroke-width='2.5']"))


def own_file(folder: Path, process: str) -> str:
    """A copy of the example with an id of its own."""
    file = folder / "order.bpmn"
    file.write_text(Path(FILE).read_text().replace('"order-fulfilment"', f'"{process}"'))
    return str(file)


def test_a_file_is_drawn_without_a_server(gnomon_alone: Gnomon) -> None:
    drawn = gnomon_alone("diagram", FILE)

    assert drawn.exit_code == 0, drawn.errors
    assert {"Check stock", "Charge card", "In stock?", "yes"} <= set(texts(drawn.output))
    assert taken(drawn.output) == 0


@pytest.mark.parametrize("file", sorted(map(str, Path("examples").glob("*.bpmn"))))
def test_every_example_is_painted(gnomon_alone: Gnomon, tmp_path: Path, file: str) -> None:
    picture = tmp_path / "picture.png"

    drawn = gnomon_alone("diagram", file, "--output", "png", "--file", str(picture))

    assert drawn.exit_code == 0, drawn.errors
    colors = Image.open(io.BytesIO(picture.read_bytes())).convert("RGB").getcolors(1_000_000)
    assert colors is not None
    assert len(colors) > 10


def test_a_definition_counts_tokens_and_an_instance_shows_its_path(gnomon: Gnomon, tmp_path: Path) -> None:
    process = f"drawn-{uuid.uuid4().hex}"
    deployed = gnomon("deploy", own_file(tmp_path, process), "--json").json
    definition = deployed["deployments"][0]["processDefinition"]["processDefinitionKey"]
    started = [gnomon("start", process, "--variables", json.dumps(ORDER), "--json").json for _ in range(3)]

    of_all = gnomon("diagram", definition)
    of_one = gnomon("diagram", started[0]["processInstanceKey"])

    assert of_all.exit_code == 0, of_all.errors
    assert texts(of_all.output).count("3") == 2
    assert taken(of_all.output) == 0
    assert texts(of_one.output).count("1") == 2
    assert taken(of_one.output) == 1


def test_text_of_a_model_is_text(gnomon_alone: Gnomon, tmp_path: Path) -> None:
    file = tmp_path / "hostile.bpmn"
    hostile = (
        Path(FILE).read_text().replace('name="Check stock"', 'name="&lt;script&gt;alert(1)&lt;/script&gt;"')
    )
    file.write_text(hostile)

    drawn = gnomon_alone("diagram", str(file))

    assert "<script" not in drawn.output
    assert "<script>alert(1)</script>" in texts(drawn.output)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        pytest.param("<a", "cannot draw", id="no XML"),
        pytest.param(
            '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"/>',
            "has no diagram",
            id="no diagram",
        ),
    ],
)
def test_a_file_that_cannot_be_drawn_is_told(
    gnomon_alone: Gnomon, tmp_path: Path, content: str, reason: str
) -> None:
    file = tmp_path / "broken.bpmn"
    file.write_text(content)

    drawn = gnomon_alone("diagram", str(file))

    assert (drawn.exit_code, drawn.output) == (2, "")
    assert reason in drawn.errors


def test_bounds_beyond_any_sheet_are_refused(gnomon_alone: Gnomon, tmp_path: Path) -> None:
    file = tmp_path / "large.bpmn"
    file.write_text(Path(FILE).read_text().replace('width="100"', 'width="1e9"', 1))

    drawn = gnomon_alone("diagram", str(file), "--output", "png")

    assert drawn.exit_code == 2
    assert "width is larger than 20,000" in drawn.errors


def test_an_unknown_key_is_refused(gnomon: Gnomon) -> None:
    drawn = gnomon("diagram", "1")

    assert drawn.exit_code == 1
    assert "NOT_FOUND" in drawn.errors
