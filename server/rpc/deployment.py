"""Servicer for deployments."""

from collections.abc import Iterator

from gnomon.engine.v1 import deployment_service_pb2 as pb
from server.engine.answers import (
    DeployedDecision,
    DeployedForm,
    DeployedProcess,
    DeployedRequirements,
    DeployedResource,
    Deployment,
)
from server.partition.config import DecisionsConfig
from server.partition.deployments import prepared
from server.partition.router import Router
from server.platform.call import Call
from server.platform.tenant_threads import TenantThreads
from server.rpc.origin import origin_of

_WORKERS = 2
# A deployment may take seconds, and keeps its files in memory while it waits.
_MOST_WAITING = 50
_MOST_OF_ONE_TENANT = 10


class DeploymentServicer:
    def __init__(self, router: Router, config: DecisionsConfig, most_waiting: int = _MOST_WAITING) -> None:
        self._router = router
        self._config = config
        self._threads = TenantThreads(
            "deployments", _WORKERS, most_waiting=most_waiting, most_of_one=_MOST_OF_ONE_TENANT
        )

    async def create_deployment(
        self, request: pb.CreateDeploymentRequest, call: Call
    ) -> pb.CreateDeploymentResponse:
        files = [(resource.name, resource.content) for resource in request.resources]
        command = await self._threads.run(
            call.tenant_id, prepared, call.tenant_id, files, dialect=self._config.dialect
        )
        answer = await self._router.submit(command, origin_of(request, call))
        assert isinstance(answer, Deployment)  # noqa: S101  # what the handler answers
        return pb.CreateDeploymentResponse(
            deployment_key=answer.key,
            tenant_id=call.tenant_id,
            deployments=_artefacts(answer, call.tenant_id),
        )


def _artefacts(deployment: Deployment, tenant_id: str) -> Iterator[pb.DeployedArtefact]:
    for process in deployment.definitions:
        yield pb.DeployedArtefact(process_definition=_process(process, tenant_id))
    for graph in deployment.requirements:
        yield pb.DeployedArtefact(decision_requirements=_requirements(graph, tenant_id))
        for decision in graph.decisions:
            yield pb.DeployedArtefact(decision_definition=_decision(decision, graph, tenant_id))
    for form in deployment.forms:
        yield pb.DeployedArtefact(form=_form(form, tenant_id))
    for resource in deployment.resources:
        yield pb.DeployedArtefact(resource=_resource(resource, tenant_id))


def _process(definition: DeployedProcess, tenant_id: str) -> pb.DeployedProcess:
    return pb.DeployedProcess(
        process_definition_id=definition.process_definition_id,
        process_definition_version=definition.version,
        resource_name=definition.resource_name,
        tenant_id=tenant_id,
        process_definition_key=definition.key,
    )


def _requirements(graph: DeployedRequirements, tenant_id: str) -> pb.DeployedDecisionRequirements:
    return pb.DeployedDecisionRequirements(
        decision_requirements_id=graph.decision_requirements_id,
        decision_requirements_name=graph.name,
        version=graph.version,
        resource_name=graph.resource_name,
        tenant_id=tenant_id,
        decision_requirements_key=graph.key,
    )


def _decision(decision: DeployedDecision, graph: DeployedRequirements, tenant_id: str) -> pb.DeployedDecision:
    return pb.DeployedDecision(
        decision_definition_id=decision.decision_definition_id,
        version=decision.version,
        name=decision.name,
        tenant_id=tenant_id,
        decision_requirements_id=graph.decision_requirements_id,
        decision_definition_key=decision.key,
        decision_requirements_key=graph.key,
    )


def _form(form: DeployedForm, tenant_id: str) -> pb.DeployedForm:
    return pb.DeployedForm(
        form_id=form.form_id,
        version=form.version,
        resource_name=form.resource_name,
        tenant_id=tenant_id,
        form_key=form.key,
    )


def _resource(resource: DeployedResource, tenant_id: str) -> pb.DeployedResource:
    return pb.DeployedResource(
        resource_id=resource.resource_id,
        resource_name=resource.resource_name,
        version=resource.version,
        tenant_id=tenant_id,
        resource_key=resource.key,
    )
