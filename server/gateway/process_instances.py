"""Process instances: creation with and without result, cancellation and migration."""

from gnomon.engine.v1 import process_instance_pb2 as own_entity_pb
from gnomon.engine.v1 import process_instance_service_pb2 as own_pb
from gnomon.gateway_protocol import gateway_pb2 as pb
from server.gateway.fields import key_of, reference_of, tenant_of

# The longest time that the contract waits for a process instance.
MAX_WAIT_MILLISECONDS = 3_600_000
TERMINATE = "TERMINATE_PROCESS_INSTANCE"


def creation(request: pb.CreateProcessInstanceRequest) -> own_pb.CreateProcessInstanceRequest:
    key = key_of(request.processDefinitionKey)
    return own_pb.CreateProcessInstanceRequest(
        process_definition_key=key,
        process_definition_id=request.bpmnProcessId or None,
        # A key already determines the version.
        process_definition_version=request.version if key is None else None,
        variables=request.variables.encode(),
        start_instructions=[
            own_pb.StartInstruction(element_id=each.elementId) for each in request.startInstructions
        ],
        tenant_id=tenant_of(request.tenantId),
        operation_reference=reference_of(
            request.operationReference, is_given=request.HasField("operationReference")
        ),
        runtime_instructions=[
            own_pb.RuntimeInstruction(type=TERMINATE, after_element_id=each.terminate.afterElementId)
            for each in request.runtimeInstructions
        ],
        tags=request.tags,
        business_id=request.businessId if request.HasField("businessId") else None,
    )


def created(answer: own_pb.CreateProcessInstanceResponse) -> pb.CreateProcessInstanceResponse:
    return pb.CreateProcessInstanceResponse(
        processDefinitionKey=answer.process_definition_key,
        bpmnProcessId=answer.process_definition_id,
        version=answer.process_definition_version,
        processInstanceKey=answer.process_instance_key,
        tenantId=answer.tenant_id,
        tags=answer.tags,
        businessId=answer.business_id if answer.HasField("business_id") else None,
    )


def awaited_creation(
    request: pb.CreateProcessInstanceWithResultRequest,
) -> own_pb.CreateProcessInstanceRequest:
    awaited = creation(request.request)
    awaited.await_completion = True
    awaited.request_timeout = min(request.requestTimeout, MAX_WAIT_MILLISECONDS)
    awaited.fetch_variables.extend(request.fetchVariables)
    return awaited


def completed(answer: own_pb.CreateProcessInstanceResponse) -> pb.CreateProcessInstanceWithResultResponse:
    return pb.CreateProcessInstanceWithResultResponse(
        processDefinitionKey=answer.process_definition_key,
        bpmnProcessId=answer.process_definition_id,
        version=answer.process_definition_version,
        processInstanceKey=answer.process_instance_key,
        variables=answer.variables.decode(),
        tenantId=answer.tenant_id,
        tags=answer.tags,
        businessId=answer.business_id if answer.HasField("business_id") else None,
    )


def cancellation(request: pb.CancelProcessInstanceRequest) -> own_pb.CancelProcessInstanceRequest:
    return own_pb.CancelProcessInstanceRequest(
        process_instance_key=request.processInstanceKey,
        operation_reference=reference_of(
            request.operationReference, is_given=request.HasField("operationReference")
        ),
    )


def migration(request: pb.MigrateProcessInstanceRequest) -> own_pb.MigrateProcessInstanceRequest:
    return own_pb.MigrateProcessInstanceRequest(
        process_instance_key=request.processInstanceKey,
        target_process_definition_key=request.migrationPlan.targetProcessDefinitionKey,
        mapping_instructions=[
            own_entity_pb.MappingInstruction(
                source_element_id=each.sourceElementId, target_element_id=each.targetElementId
            )
            for each in request.migrationPlan.mappingInstructions
        ],
        operation_reference=reference_of(
            request.operationReference, is_given=request.HasField("operationReference")
        ),
    )
