"""Requirements graphs for stories: files of decisions, made ready as a deployment makes them."""

from server.engine.deployment_commands import DecisionModel
from server.partition.config import DialectChoice
from server.partition.decision_models import decision_models
from tests.server.dmn.models import decision, definitions, input_data, literal, table


def graph_xml(*parts: str, id_: str = "pricing", more: str = "") -> bytes:
    """A graph that is named as its id."""
    found = f'id="{id_}" name="{id_}"'.encode()
    return definitions(*parts, more=more).replace(b'id="model" name="model"', found)


def graph(
    *parts: str,
    id_: str = "pricing",
    name: str = "pricing.dmn",
    dialect: DialectChoice = DialectChoice.STANDARD,
) -> DecisionModel:
    problems: list[str] = []
    models = decision_models([(name, graph_xml(*parts, id_=id_))], dialect, problems)
    assert not problems
    return models[0]


def answering(name: str, text: str) -> str:
    """A decision that is an expression."""
    return decision(name, literal(text))


DISCOUNT = (
    input_data("customer"),
    input_data("amount"),
    decision("level", literal("if amount > 100 then 2 else 1"), inputs=["amount"]),
    decision(
        "discount",
        table(["customer", "level"], ["percent"], ['"new"', "-", "0"], ['"regular"', "2", "10"]),
        requires=["level"],
        inputs=["customer"],
    ),
)
