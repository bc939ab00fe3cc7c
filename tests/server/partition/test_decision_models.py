"""Files of decisions on their way into a deployment."""

from pathlib import Path

import pytest

from server.dmn.reader import read
from server.engine.definitions import DecisionFile, compiled_decisions
from server.partition.config import DialectChoice
from server.partition.decision_models import decision_models
from server.partition.deployments import prepared
from server.platform.errors import InvalidArgument
from tests.server.dmn.models import decision, definitions, input_data, literal
from tests.server.engine.graphs import answering, graph_xml

MODELS = Path(__file__).parents[4] / "shared/data/models/dmn"
FILES = sorted(MODELS.glob("*.dmn"))
REFUSED = {"dmn-scala__missingKnowledgeRequirement.dmn": "[dmn-invocation-target]"}

PLAIN = graph_xml(answering("a", "1"))
CAMUNDA = graph_xml(answering("a", "1"), more='xmlns:camunda="http://camunda.org/schema/1.0/dmn"')


def refusal(*files: tuple[str, bytes]) -> str:
    with pytest.raises(InvalidArgument) as caught:
        prepared("default", files)
    return caught.value.detail


@pytest.mark.skipif(
    not FILES, reason="the real models are not here: no folder shared/data/models beside the project"
)
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_model_of_another_project_deploys_or_is_refused_by_a_rule(file: Path) -> None:
    problems: list[str] = []

    models = decision_models([(file.name, file.read_bytes())], DialectChoice.AUTO, problems)

    if file.name in REFUSED:
        assert REFUSED[file.name] in "".join(problems)
        assert models == []
    else:
        assert problems == []
        assert models[0].dialect == "camunda"
        assert models[0].decisions


def test_a_file_becomes_a_graph_with_its_decisions() -> None:
    xml = graph_xml(answering("a", "1"), input_data("x"), decision("the other", literal("2")), id_="g")

    (model,) = prepared("default", [("g.DMN", xml)]).decision_models

    assert (model.name, model.decision_requirements_id, model.decision_requirements_name) == (
        "g.DMN",
        "g",
        "g",
    )
    assert [(each.id, each.name) for each in model.decisions] == [("a", "a"), ("theother", "the other")]


def without_ids(text: str, namespace: str = "urn:loans") -> bytes:
    xml = definitions(f'<decision name="Approve loan">{literal(text)}</decision>', namespace=namespace)
    return xml.replace(b' id="model"', b"")


@pytest.mark.parametrize("dialect", DialectChoice)
def test_a_graph_without_ids_has_the_same_made_ids_in_each_deployment(dialect: DialectChoice) -> None:
    files = (without_ids("1"), without_ids("2"), without_ids("1", "urn:other"))

    first, second, other = [
        prepared("default", [("loans.dmn", xml)], dialect=dialect).decision_models[0] for xml in files
    ]

    assert first.decision_requirements_id == second.decision_requirements_id == "urn:loans#model"
    assert first.decisions == second.decisions
    assert [each.id for each in first.decisions] == ["urn:loans#Approve loan"]
    assert [each.id for each in other.decisions] == ["urn:other#Approve loan"]


@pytest.mark.parametrize(
    ("content", "choice", "dialect"),
    [
        (PLAIN, DialectChoice.AUTO, "standard"),
        (CAMUNDA, DialectChoice.AUTO, "camunda"),
        (PLAIN, DialectChoice.CAMUNDA, "camunda"),
        (CAMUNDA, DialectChoice.STANDARD, "standard"),
    ],
)
def test_the_dialect_is_the_configured_one_or_told_by_the_file(
    content: bytes, choice: DialectChoice, dialect: str
) -> None:
    command = prepared("default", [("a.dmn", content)], dialect=choice)

    assert command.decision_models[0].dialect == dialect


def test_a_namespace_of_camunda_alone_tells_the_dialect() -> None:
    xml = definitions(answering("a", "1"), namespace="http://camunda.org/schema/1.0/dmn")

    assert prepared("default", [("a.dmn", xml)]).decision_models[0].dialect == "camunda"


def test_compiling_is_done_before_the_engine_sees_the_command() -> None:
    (model,) = prepared("default", [("a.dmn", graph_xml(answering("costly", "1")))]).decision_models
    before = compiled_decisions.cache_info().misses

    compiled_decisions(DecisionFile(model.content), (), model.dialect)

    assert compiled_decisions.cache_info().misses == before


def test_what_is_read_already_is_not_read_again() -> None:
    definitions = read(graph_xml(answering("a", "1")))

    compiled = compiled_decisions(DecisionFile(b"never read", definitions), (), "standard")

    assert compiled.evaluate("a", {}).value == 1


def test_every_problem_of_every_file_is_in_the_one_refusal() -> None:
    broken = graph_xml(answering("a", "1 +"), answering("b", ""), id_="b")

    detail = refusal(("a.dmn", b"<no/>"), ("b.dmn", broken), ("c.dmn", PLAIN))

    assert "'a.dmn':" in detail
    assert all(f"[{rule}]" in detail for rule in ("dmn-readable", "dmn-expression", "dmn-expression-empty"))
    assert "c.dmn" not in detail


@pytest.mark.parametrize("dialect", DialectChoice)
def test_a_graph_may_have_a_knowledge_model_without_logic(dialect: DialectChoice) -> None:
    drawn = '<businessKnowledgeModel id="k" name="k"/>'
    xml = graph_xml(drawn, decision("a", literal("1"), knowledge=["k"]))

    (model,) = prepared("default", [("a.dmn", xml)], dialect=dialect).decision_models

    assert [found.id for found in model.decisions] == ["a"]


def test_a_decision_without_logic_refuses_with_what_to_do() -> None:
    detail = refusal(("a.dmn", graph_xml(decision("a"))))

    assert "add a decision table, a literal expression or another boxed expression" in detail


def test_a_problem_refuses_in_either_dialect() -> None:
    broken = graph_xml(answering("a", "1 +"), more='xmlns:camunda="http://camunda.org/schema/1.0/dmn"')

    assert "[dmn-expression]" in refusal(("a.dmn", broken))


def test_graphs_and_decisions_cannot_stand_twice_in_a_deployment() -> None:
    detail = refusal(("a.dmn", PLAIN), ("b.dmn", PLAIN))

    assert "requirements graph 'pricing' stands in this deployment 2 times [drg-id-unique]" in detail
    assert "decision 'a' stands in this deployment 2 times [decision-id-unique]" in detail


IMPORTED = definitions(answering("base", "20"), namespace="urn:base")
IMPORTING = definitions(
    '<import name="base" namespace="urn:base" importType="https://www.omg.org/spec/DMN/20230324/MODEL/"/>',
    decision("price", literal("base.base + 1"), requires=["urn:base#base"]),
).replace(b'id="model" name="model"', b'id="importing" name="importing"')


def test_an_imported_model_is_found_among_the_files() -> None:
    command = prepared("default", [("a.dmn", IMPORTING), ("b.dmn", IMPORTED)])

    importing, imported = command.decision_models
    assert (importing.imports, imported.imports) == ((IMPORTED,), ())
    compiled = compiled_decisions(
        DecisionFile(importing.content), tuple(map(DecisionFile, importing.imports)), importing.dialect
    )
    assert compiled.evaluate("price", {}).value == 21
    assert [each.id for each in importing.decisions] == ["price"]


def test_an_imported_model_that_is_not_there_refuses() -> None:
    assert "[dmn-import]" in refusal(("a.dmn", IMPORTING))


def test_the_checksum_is_of_the_imported_models_too() -> None:
    changed = definitions(answering("base", "30"), namespace="urn:base")

    one, other = [
        prepared("default", [("a.dmn", IMPORTING), ("b.dmn", base)]).decision_models[0].checksum
        for base in (IMPORTED, changed)
    ]

    assert one != other
