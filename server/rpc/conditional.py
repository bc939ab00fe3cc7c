"""Evaluates the conditions of start events."""

from gnomon.engine.v1 import conditional_service_pb2 as pb
from server.engine import answers
from server.engine.keys import Key
from server.engine.signal_commands import EvaluateConditionals
from server.partition.router import Router
from server.platform.call import Call
from server.rpc.origin import origin_of
from server.rpc.variables import variables_of


class ConditionalServicer:
    def __init__(self, router: Router) -> None:
        self._router = router

    async def evaluate_conditionals(
        self, request: pb.EvaluateConditionalsRequest, call: Call
    ) -> pb.EvaluateConditionalsResponse:
        command = EvaluateConditionals(
            call.tenant_id, variables_of(request.variables), Key(request.process_definition_key) or None
        )
        answer = await self._router.submit(command, origin_of(request, call))
        assert isinstance(answer, answers.EvaluatedConditionals)  # noqa: S101  # narrows the type
        begun = [
            pb.ProcessInstanceReference(
                process_definition_key=head.process_definition_key, process_instance_key=head.key
            )
            for head in answer.heads
        ]
        return pb.EvaluateConditionalsResponse(
            conditional_evaluation_key=answer.key, tenant_id=call.tenant_id, process_instances=begun
        )
