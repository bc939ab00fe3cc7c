"""Scenarios of the demo: for each example the variables of its instances."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

Variables = Mapping[str, object]

_SERVER = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Scenario:
    """A process with the variables that its nth instance starts with."""

    process_id: str
    variables: Callable[[int], Variables]

    @property
    def file(self) -> Path:
        return examples() / f"{self.process_id}.bpmn"


def examples() -> Path:
    """Where the examples lie: in a checkout beside the packages, installed inside this one."""
    installed = _SERVER / "examples"
    return installed if installed.is_dir() else _SERVER.parent / "examples"


def _order(number: int) -> Variables:
    items = [{"article": "pen", "quantity": number % 7 + 1, "price": 1.5}]
    return {"order": {"number": number, "customer": f"customer-{number % 9}", "items": items}}


def _loan(number: int) -> Variables:
    applicant = {"creditScore": 550 + number * 37 % 200, "monthlyIncome": 1500 + number * 113 % 2500}
    return {"amount": 20_000, "applicant": applicant}


def _invoice(number: int) -> Variables:
    return {"invoice": {"number": number, "account": f"account-{number}", "amount": 100 + number}}


SCENARIOS = (
    Scenario("order-fulfilment", _order),
    Scenario("loan-approval", _loan),
    Scenario("invoice-payment", _invoice),
)
