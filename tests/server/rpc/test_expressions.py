"""Expressions that callers have evaluated: each has a bound, and tenants take turns."""

import asyncio
from collections.abc import Awaitable

import pytest

from gnomon.engine.v1 import expression_service_pb2 as pb
from server.platform.call import Call, TenantId
from server.platform.clock import VirtualClock
from server.platform.errors import InvalidArgument, ResourceExhausted
from server.rpc.expression import ExpressionServicer
from server.store.memory import MemoryStore
from tests.server.rpc.caller import POLICIES


async def evaluated(servicer: ExpressionServicer, text: str, tenant_id: str = "default") -> str:
    request = pb.EvaluateExpressionRequest(expression=text)
    call = Call(POLICIES["EvaluateExpression"], request, {}, tenant_id=TenantId(tenant_id))
    return (await servicer.evaluate_expression(request, call)).result.decode()


async def _outcome(evaluation: Awaitable[str]) -> str:
    try:
        return await evaluation
    except ResourceExhausted as refusal:
        return refusal.detail


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("count(for i in 1..1000, j in 1..1000 return i + j)", id="steps"),
        pytest.param("for i in 1..22 return partial", id="results in each other"),
        pytest.param(
            f'count(for i in 1..100000 return matches("{"a" * 40}b", "(a|aa)+$"))',
            id="patterns that backtrack for ever",
        ),
    ],
)
async def test_an_expression_without_measure_is_refused(text: str) -> None:
    with pytest.raises(InvalidArgument, match="expression: "):
        await evaluated(ExpressionServicer(VirtualClock(), MemoryStore(1)), text)


async def test_an_expression_within_its_bounds_is_evaluated() -> None:
    assert await evaluated(ExpressionServicer(VirtualClock(), MemoryStore(1)), "=1 + 1") == "2"


async def test_a_tenant_leaves_places_to_others() -> None:
    servicer = ExpressionServicer(VirtualClock(), MemoryStore(1))
    long = "count(for i in 1..300, j in 1..300 return i + j)"
    async with asyncio.TaskGroup() as tasks:
        crowd = [tasks.create_task(_outcome(evaluated(servicer, long, "crowd"))) for _ in range(40)]
        other = tasks.create_task(evaluated(servicer, "1 + 1", "other"))
        await other
        waiting = sum(not each.done() for each in crowd)

    outcomes = [each.result() for each in crowd]
    assert waiting > 0
    assert "25 expressions of the tenant wait already" in outcomes
    assert outcomes.count("90000") == 26
