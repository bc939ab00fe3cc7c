"""Evaluation of conditional start events."""

from gnomon.engine.v1 import conditional_service_pb2 as own_pb
from gnomon.gateway_protocol import gateway_pb2 as pb
from server.gateway.fields import tenant_of


def evaluation(request: pb.EvaluateConditionalRequest) -> own_pb.EvaluateConditionalsRequest:
    has_key = request.HasField("processDefinitionKey")
    return own_pb.EvaluateConditionalsRequest(
        process_definition_key=request.processDefinitionKey if has_key else None,
        variables=request.variables.encode(),
        tenant_id=tenant_of(request.tenantId),
    )


def evaluated(answer: own_pb.EvaluateConditionalsResponse) -> pb.EvaluateConditionalResponse:
    return pb.EvaluateConditionalResponse(
        processInstances=[
            pb.ProcessInstanceReference(
                processDefinitionKey=each.process_definition_key, processInstanceKey=each.process_instance_key
            )
            for each in answer.process_instances
        ],
        conditionalEvaluationKey=answer.conditional_evaluation_key,
        tenantId=answer.tenant_id,
    )
