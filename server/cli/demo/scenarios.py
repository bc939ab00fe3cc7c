"""Scenarios of the demo: for each example the variables of its instances and the events that they need."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

Variables = Mapping[str, object]

_SERVER = Path(__file__).resolve().parents[2]


# Long enough to observe, short enough to wait for.
REMINDER, DEADLINE = "PT0.3S", "PT0.6S"


@dataclass(frozen=True, slots=True)
class Message:
    name: str
    correlation_key: str
    variables: Variables


def _no_messages(_number: int) -> Sequence[Message]:
    return ()


@dataclass(frozen=True, slots=True)
class Scenario:
    """A process of the demo, with the variables and messages of its nth instance.

    The demo broadcasts `signals` at intervals.
    """

    process_id: str
    variables: Callable[[int], Variables]
    messages: Callable[[int], Sequence[Message]] = _no_messages
    signals: Sequence[str] = ()

    @property
    def file(self) -> Path:
        return examples() / f"{self.process_id}.bpmn"


def examples() -> Path:
    """Return the folder of the examples: beside the packages in a checkout, inside this package if installed."""
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


def _expense(number: int) -> Variables:
    """Return the variables of an expense; the demo's managers leave large amounts to the directors."""
    expense = {"number": number, "amount": 2_000 if number % 5 == 0 else 100 + number}
    return {"expense": expense, "reminderAfter": REMINDER, "escalateAfter": DEADLINE}


def _trip(number: int) -> Variables:
    return {"trip": {"number": number, "city": "Lisbon"}}


def _preorder(number: int) -> Variables:
    """Return the variables of a preorder; the article of every fifth one is withdrawn."""
    article = "lamp" if number % 5 == 0 else "chair"
    return {"preorder": {"number": f"{article}-{number}", "article": article}}


def _payment(number: int) -> Sequence[Message]:
    if number % 5 == 0:
        return ()
    return (Message("payment-received", f"chair-{number}", {"amount": 20 + number}),)


def _goods(number: int) -> Variables:
    names = ("north", "south", "west")
    return {
        "suppliers": [{"name": name, "price": 10 + number * place % 7} for place, name in enumerate(names)]
    }


def _question(number: int) -> Variables:
    return {"question": {"number": number, "text": "Where is my order?"}, "findings": []}


SCENARIOS = (
    Scenario("order-fulfilment", _order),
    Scenario("loan-approval", _loan),
    Scenario("invoice-payment", _invoice),
    Scenario("expense-approval", _expense),
    Scenario("trip-booking", _trip),
    Scenario("article-preorder", _preorder, _payment, signals=("withdrawn: lamp",)),
    Scenario("supplier-quotes", _goods),
    Scenario("support-agent", _question),
)
