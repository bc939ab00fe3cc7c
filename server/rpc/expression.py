"""Evaluates expressions that nothing else comes of."""

import secrets

from gnomon.engine.v1 import expression_service_pb2 as pb
from server.engine.variables import Variables, decode, encode
from server.feel import EvaluationError, FeelSyntaxError, Ports, compile_expression
from server.platform.call import Call
from server.platform.clock import Clock
from server.platform.errors import InvalidArgument
from server.platform.threads import Threads
from server.rpc.variables import variables_of

_WORKERS = 2
# An expression may take half a second: whoever comes later would wait longer than a caller does.
_MOST_WAITING = 100


class ExpressionServicer:
    def __init__(self, clock: Clock, most_waiting: int = _MOST_WAITING) -> None:
        self._clock = clock
        self._threads = Threads("expressions", _WORKERS, most_waiting=most_waiting)

    async def evaluate_expression(
        self, request: pb.EvaluateExpressionRequest, call: Call
    ) -> pb.EvaluateExpressionResponse:
        ports = Ports(self._clock.now(), secrets.randbits)
        variables = variables_of(request.variables)
        return await self._threads.run(_evaluated, request.expression, variables, ports)


def _evaluated(text: str, variables: Variables, ports: Ports) -> pb.EvaluateExpressionResponse:
    scope = {name: decode(value) for name, value in variables.items()}
    try:
        evaluation = compile_expression(text.removeprefix("=")).evaluate(scope, ports)
    except (FeelSyntaxError, EvaluationError) as error:
        raise InvalidArgument(f"expression: {error}", field="expression") from error
    warnings = [
        pb.ExpressionWarning(message=f"[{failure.type}] {failure.message}") for failure in evaluation.failures
    ]
    result = encode(evaluation.value).encode()
    return pb.EvaluateExpressionResponse(expression=text, result=result, warnings=warnings)
