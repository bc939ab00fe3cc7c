"""Servicer for evaluating an expression without side effects."""

import secrets
import time
from collections.abc import Iterable, Sequence

from gnomon.engine.v1 import expression_service_pb2 as pb
from server.engine.cluster_variables import CONTEXT_NAME, Context, context_of
from server.engine.variables import Variables, decode, encode
from server.feel import Budget, EvaluationError, FeelSyntaxError, Ports, compile_expression
from server.platform.call import Call
from server.platform.clock import Clock
from server.platform.errors import InvalidArgument
from server.platform.tenant_threads import TenantThreads
from server.rpc.variables import variables_of
from server.store.entities import ClusterVariable
from server.store.ports import Store
from server.store.searchables import CLUSTER_VARIABLES

_WORKERS = 2
# More evaluations would wait longer than their callers do.
_MOST_WAITING = 100
_MOST_OF_ONE_TENANT = 25
MAX_EXPRESSION_STEPS = 1_000_000
"""Takes one worker about half a second."""


class ExpressionServicer:
    def __init__(self, clock: Clock, store: Store, most_waiting: int = _MOST_WAITING) -> None:
        self._clock = clock
        self._store = store
        self._threads = TenantThreads(
            "expressions", _WORKERS, most_waiting=most_waiting, most_of_one=_MOST_OF_ONE_TENANT
        )

    async def evaluate_expression(
        self, request: pb.EvaluateExpressionRequest, call: Call
    ) -> pb.EvaluateExpressionResponse:
        ports = Ports(self._clock.now(), secrets.randbits, Budget(MAX_EXPRESSION_STEPS), time.perf_counter)
        variables = variables_of(request.variables)
        common: Sequence[ClusterVariable] = ()
        if CONTEXT_NAME in request.expression and CONTEXT_NAME not in variables:
            found = await self._store.search(
                ClusterVariable, CLUSTER_VARIABLES.query(), tenant_id=call.tenant_id
            )
            common = found.items
        return await self._threads.run(
            call.tenant_id, _evaluated, request.expression, variables, common, ports
        )


def _evaluated(
    text: str, variables: Variables, common: Iterable[ClusterVariable], ports: Ports
) -> pb.EvaluateExpressionResponse:
    scope = {CONTEXT_NAME: _context(common), **{name: decode(value) for name, value in variables.items()}}
    try:
        evaluation = compile_expression(text.removeprefix("=")).evaluate(scope, ports)
    except (FeelSyntaxError, EvaluationError) as error:
        raise InvalidArgument(f"expression: {error}", field="expression") from error
    warnings = [
        pb.ExpressionWarning(message=f"[{failure.type}] {failure.message}") for failure in evaluation.failures
    ]
    result = encode(evaluation.value).encode()
    return pb.EvaluateExpressionResponse(expression=text, result=result, warnings=warnings)


def _context(variables: Iterable[ClusterVariable]) -> Context:
    cluster: Context = {}
    tenant: Context = {}
    for variable in variables:
        values = cluster if variable.tenant_id is None else tenant
        values[variable.name] = decode(variable.value)
    return context_of(cluster, tenant)
