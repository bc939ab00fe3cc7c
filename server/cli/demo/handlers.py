"""Job handlers of the demo: one function per job type, simulating the work.

Failures depend only on the variables and the remaining retries, so every run is the same.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from gnomon.engine.v1 import job_pb2
from server.cli.worker import Completed, Failed, Handler, Outcome, Thrown

# The retries after an operator resolves the incident of a transfer: more than in the model.
RETRIES_OF_AN_OPERATOR = 2

_RETRIES_OF_A_CHARGE = 3
_WORK_SECONDS = 0.1

Result = dict[str, Any] | Failed | Thrown
Rule = Callable[[dict[str, Any], int], Result]


def handler_of(rule: Rule) -> Handler:
    """Create a handler from a rule, which takes variables and remaining retries and returns variables or an error."""

    async def handle(job: job_pb2.ActivatedJob) -> Outcome:
        await asyncio.sleep(_WORK_SECONDS)
        try:
            result = rule(msgspec.json.decode(job.variables, type=dict[str, Any]), job.retries)
        except (KeyError, TypeError) as error:
            # The instance was started by someone else, with other variables.
            return Failed(f"expected the variables of the demo: {error!r}")
        return result if isinstance(result, Failed | Thrown) else Completed(msgspec.json.encode(result))

    return handle


def check_stock(variables: dict[str, Any], _retries: int) -> dict[str, Any]:
    return {"inStock": variables["order"]["number"] % 5 != 0}


def charge_card(variables: dict[str, Any], retries: int) -> dict[str, Any] | Failed:
    number = variables["order"]["number"]
    if number % 4 == 0 and retries == _RETRIES_OF_A_CHARGE:
        return Failed("the card terminal did not answer")
    return {"transactionId": f"transaction-{number}"}


def ship_order(variables: dict[str, Any], _retries: int) -> dict[str, Any]:
    return {"trackingCode": f"parcel-{variables['order']['number']}"}


def notify_customer(_variables: dict[str, Any], _retries: int) -> dict[str, Any]:
    return {"isNotified": True}


def check_credit(variables: dict[str, Any], _retries: int) -> dict[str, Any]:
    return {"creditScore": variables["applicant"]["creditScore"]}


def check_income(variables: dict[str, Any], _retries: int) -> dict[str, Any]:
    return {"monthlyIncome": variables["applicant"]["monthlyIncome"]}


def pay_out(variables: dict[str, Any], _retries: int) -> dict[str, Any]:
    return {"paidOut": variables["amount"]}


def transfer_money(variables: dict[str, Any], retries: int) -> dict[str, Any] | Failed:
    if variables["invoice"]["number"] % 6 == 0 and retries < RETRIES_OF_AN_OPERATOR:
        return Failed(f"the bank does not know {variables['account']}")
    return {"isPaid": True}


def book_flight(variables: dict[str, Any], _retries: int) -> dict[str, Any]:
    return {"flight": f"flight-{variables['trip']['number']}"}


def book_hotel(variables: dict[str, Any], _retries: int) -> dict[str, Any]:
    return {"hotel": f"hotel-{variables['trip']['number']}"}


def charge_trip(variables: dict[str, Any], _retries: int) -> dict[str, Any] | Thrown:
    if variables["trip"]["number"] % 4 == 0:
        return Thrown("CARD_DECLINED", "the bank declined the card")
    return {"isCharged": True}


def cancel_booking(_variables: dict[str, Any], _retries: int) -> dict[str, Any]:
    return {}


def request_quote(variables: dict[str, Any], _retries: int) -> dict[str, Any]:
    supplier = variables["supplier"]
    return {"quote": {"supplier": supplier["name"], "price": supplier["price"]}}


def place_order(variables: dict[str, Any], _retries: int) -> dict[str, Any]:
    return {"orderedFrom": variables["chosen"]["supplier"]}


def plan_answer(variables: dict[str, Any], _retries: int) -> dict[str, Any]:
    """Request the tools one by one for every other question, else both at once."""
    tools, findings = ["look-up-order", "search-handbook"], variables["findings"]
    if len(findings) == len(tools):
        return {"answer": " and ".join(sorted(findings))}
    at_once = len(tools) if variables["question"]["number"] % 2 else 1
    return {"wantedTools": tools[len(findings) :][:at_once]}


def look_up_order(variables: dict[str, Any], _retries: int) -> dict[str, Any]:
    return {"result": f"order {variables['question']['number']} is on its way"}


def search_handbook(_variables: dict[str, Any], _retries: int) -> dict[str, Any]:
    return {"result": "parcels arrive within a week"}


RULES: Mapping[str, Rule] = {
    "check-stock": check_stock,
    "charge-card": charge_card,
    "ship-order": ship_order,
    "notify-customer": notify_customer,
    "check-credit": check_credit,
    "check-income": check_income,
    "pay-out": pay_out,
    "transfer-money": transfer_money,
    "book-flight": book_flight,
    "book-hotel": book_hotel,
    "charge-trip": charge_trip,
    "cancel-booking": cancel_booking,
    "request-quote": request_quote,
    "place-order": place_order,
    "plan-answer": plan_answer,
    "look-up-order": look_up_order,
    "search-handbook": search_handbook,
}
