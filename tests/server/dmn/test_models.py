"""Real models, where they lie beside the project: each is compiled, or refused for the reason that is listed."""

from pathlib import Path

import pytest

from server.dmn import DmnModelError, compile_definitions

MODELS = Path(__file__).parents[4] / "shared/data/models/dmn"
REFUSED = {
    "dmn-scala__missingKnowledgeRequirement.dmn": "expected a required function, found one that is not required",
}

pytestmark = pytest.mark.skipif(
    not MODELS.is_dir(),
    reason="the real models are not here: no folder shared/data/models beside the project",
)


@pytest.mark.parametrize("file", sorted(MODELS.glob("*.dmn")), ids=lambda file: file.stem)
def test_a_real_model_is_compiled_or_refused_for_its_reason(file: Path) -> None:
    try:
        compile_definitions(file.read_bytes())
        reason = ""
    except DmnModelError as error:
        reason = error.problems[0].message

    assert reason == REFUSED.get(file.name, "")


def test_a_graph_of_tables_is_decided_from_its_leaves() -> None:
    model = compile_definitions((MODELS / "zeebe__drg-force-user.dmn").read_bytes())

    evaluation = model.evaluate("force_user", {"lightsaberColor": "blue", "height": 182})

    assert evaluation.value == "Obi-Wan Kenobi"
    assert [(each.id, each.value) for each in evaluation.evaluated] == [
        ("jedi_or_sith", "Jedi"),
        ("force_user", "Obi-Wan Kenobi"),
    ]
    assert [(each.name, each.value) for each in evaluation.evaluated[1].inputs] == [
        ("Jedi or Sith", "Jedi"),
        ("Body height", 182),
    ]
