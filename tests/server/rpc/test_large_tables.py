"""Decision tables of 10,000 rules: compiled beside the event loop, a bounded number of them for each tenant."""

import asyncio
import json
from collections.abc import AsyncIterator

import pytest

from server.bpmn.builder import process
from server.platform.channels import LocalChannel
from server.platform.dispatch import Dispatcher
from server.platform.errors import ResourceExhausted
from server.platform.interceptors import interceptors
from tests.server.dmn.models import decision, definitions, input_data, table
from tests.server.rpc.caller import Caller
from tests.server.rpc.conftest import authenticate
from tests.server.rpc.engines import embedded
from tests.waits import ticks

RULES = 10_000
RUNNING, WAITING = 1, 10
"""Deployments of one tenant at a time, and those that may wait."""


def rule(number: int) -> tuple[str, ...]:
    if number % 100 == 0:
        return f"? * 2 > {20 * RULES - number}", "-", str(number)
    return f"[{10 * number}..{10 * number + 9}]", f'"c{number % 7}", "any"', str(number)


def matching(amount: int, country: str) -> list[int]:
    return [
        number
        for number in range(RULES)
        if (
            amount * 2 > 20 * RULES - number
            if number % 100 == 0
            else amount // 10 == number and country in {f"c{number % 7}", "any"}
        )
    ]


LARGE = definitions(
    input_data("amount"),
    input_data("country"),
    decision(
        "fee",
        table(["amount", "country"], ["fee"], *map(rule, range(RULES)), hit_policy="COLLECT"),
        inputs=["amount", "country"],
    ),
)
SMALL = definitions(input_data("x"), decision("d", table(["x"], ["y"], ("1", "2")), inputs=["x"]))


@pytest.fixture
async def caller() -> AsyncIterator[Caller]:
    async with embedded() as running:
        dispatcher = Dispatcher(
            running.engine.servicers, interceptors(running.mode, authenticate), refused=running.engine.refused
        )
        yield Caller(LocalChannel(dispatcher))


async def deploy(caller: Caller, content: bytes) -> None:
    await caller("CreateDeployment", resources=[{"name": "table.dmn", "content": content}])


async def test_another_tenant_is_answered_while_a_table_is_compiled(caller: Caller) -> None:
    other = caller.signed_in_as("stranger")
    async with asyncio.TaskGroup() as tasks:
        deployment = tasks.create_task(deploy(caller, LARGE))
        await ticks(10)
        await other.deploy(process("order").start().service_task("charge", type="charge").end())
        await other.start("order")
        jobs = await other.activate("charge")
        is_compiled = deployment.done()

    assert len(jobs) == 1
    assert not is_compiled


@pytest.mark.parametrize(("amount", "country"), [(12_345, "c2"), (19, "any"), (99_995, "c3")])
async def test_a_table_of_ten_thousand_rules_decides(caller: Caller, amount: int, country: str) -> None:
    await deploy(caller, LARGE)
    variables = json.dumps({"amount": amount, "country": country}).encode()

    answer = await caller("EvaluateDecision", decision_definition_id="fee", variables=variables)

    assert json.loads(answer.output) == matching(amount, country) != []


async def test_a_tenant_has_few_deployments_waiting(caller: Caller) -> None:
    first = asyncio.ensure_future(deploy(caller, LARGE))
    await ticks(10)

    further = [deploy(caller, SMALL) for _ in range(WAITING + 1)]
    outcomes = await asyncio.gather(first, *further, return_exceptions=True)

    (refusal,) = [outcome for outcome in outcomes if outcome is not None]
    assert isinstance(refusal, ResourceExhausted)
    assert str(refusal) == f"{WAITING} deployments of the tenant wait already"
