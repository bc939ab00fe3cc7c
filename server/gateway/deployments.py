"""Deployments, and deletion of deployed resources."""

from collections.abc import Iterator

from gnomon.engine.v1 import deployment_service_pb2 as own_pb
from gnomon.engine.v1 import resource_service_pb2 as own_resource_pb
from gnomon.gateway_protocol import gateway_pb2 as pb
from server.gateway.fields import reference_of, tenant_of

_PROCESS = "process_definition"


def resources(request: pb.DeployResourceRequest) -> own_pb.CreateDeploymentRequest:
    return own_pb.CreateDeploymentRequest(
        resources=[own_pb.Resource(name=each.name, content=each.content) for each in request.resources],
        tenant_id=tenant_of(request.tenantId),
    )


def processes(request: pb.DeployProcessRequest) -> own_pb.CreateDeploymentRequest:
    return own_pb.CreateDeploymentRequest(
        resources=[own_pb.Resource(name=each.name, content=each.definition) for each in request.processes]
    )


def deployed_resources(answer: own_pb.CreateDeploymentResponse) -> pb.DeployResourceResponse:
    return pb.DeployResourceResponse(
        key=answer.deployment_key, deployments=_deployments(answer), tenantId=answer.tenant_id
    )


def deployed_processes(answer: own_pb.CreateDeploymentResponse) -> pb.DeployProcessResponse:
    return pb.DeployProcessResponse(
        key=answer.deployment_key,
        processes=[_process(each.process_definition) for each in _artefacts(answer, _PROCESS)],
    )


def _deployments(answer: own_pb.CreateDeploymentResponse) -> Iterator[pb.Deployment]:
    for artefact in _artefacts(answer, _PROCESS):
        yield pb.Deployment(process=_process(artefact.process_definition))
    for artefact in _artefacts(answer, "decision_definition"):
        yield pb.Deployment(decision=_decision(artefact.decision_definition))
    for artefact in _artefacts(answer, "decision_requirements"):
        yield pb.Deployment(decisionRequirements=_requirements(artefact.decision_requirements))
    for artefact in _artefacts(answer, "form"):
        yield pb.Deployment(form=_form(artefact.form))


def _artefacts(answer: own_pb.CreateDeploymentResponse, kind: str) -> Iterator[own_pb.DeployedArtefact]:
    return (artefact for artefact in answer.deployments if artefact.HasField(kind))  # type: ignore[arg-type]  # by its name


def _process(process: own_pb.DeployedProcess) -> pb.ProcessMetadata:
    return pb.ProcessMetadata(
        bpmnProcessId=process.process_definition_id,
        version=process.process_definition_version,
        processDefinitionKey=process.process_definition_key,
        resourceName=process.resource_name,
        tenantId=process.tenant_id,
    )


def _decision(decision: own_pb.DeployedDecision) -> pb.DecisionMetadata:
    return pb.DecisionMetadata(
        dmnDecisionId=decision.decision_definition_id,
        dmnDecisionName=decision.name,
        version=decision.version,
        decisionKey=decision.decision_definition_key,
        dmnDecisionRequirementsId=decision.decision_requirements_id,
        decisionRequirementsKey=decision.decision_requirements_key,
        tenantId=decision.tenant_id,
    )


def _requirements(graph: own_pb.DeployedDecisionRequirements) -> pb.DecisionRequirementsMetadata:
    return pb.DecisionRequirementsMetadata(
        dmnDecisionRequirementsId=graph.decision_requirements_id,
        dmnDecisionRequirementsName=graph.decision_requirements_name,
        version=graph.version,
        decisionRequirementsKey=graph.decision_requirements_key,
        resourceName=graph.resource_name,
        tenantId=graph.tenant_id,
    )


def _form(form: own_pb.DeployedForm) -> pb.FormMetadata:
    return pb.FormMetadata(
        formId=form.form_id,
        version=form.version,
        formKey=form.form_key,
        resourceName=form.resource_name,
        tenantId=form.tenant_id,
    )


def deletion(request: pb.DeleteResourceRequest) -> own_resource_pb.DeleteResourceRequest:
    return own_resource_pb.DeleteResourceRequest(
        resource_key=request.resourceKey,
        operation_reference=reference_of(
            request.operationReference, is_given=request.HasField("operationReference")
        ),
        delete_history=request.deleteHistory,
    )


def deleted(answer: own_resource_pb.DeleteResourceResponse) -> pb.DeleteResourceResponse:
    batch = answer.batch_operation if answer.HasField("batch_operation") else None
    return pb.DeleteResourceResponse(
        resourceKey=str(answer.resource_key), batchOperation=None if batch is None else _batch(batch)
    )


def _batch(batch: own_resource_pb.BatchOperationCreated) -> pb.BatchOperationCreatedResult:
    kind = pb.BatchOperationCreatedResult.BatchOperationTypeEnum.Value(batch.batch_operation_type)
    return pb.BatchOperationCreatedResult(
        batchOperationKey=batch.batch_operation_key, batchOperationType=kind
    )
