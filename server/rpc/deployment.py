"""Brings models into the engine."""

from gnomon.engine.v1 import deployment_service_pb2 as pb
from server.engine.answers import DeployedProcess, Deployment
from server.partition.deployments import prepared
from server.partition.router import Router
from server.platform.call import Call
from server.rpc.origin import origin_of


class DeploymentServicer:
    def __init__(self, router: Router) -> None:
        self._router = router

    async def create_deployment(
        self, request: pb.CreateDeploymentRequest, call: Call
    ) -> pb.CreateDeploymentResponse:
        files = [(resource.name, resource.content) for resource in request.resources]
        command = await prepared(call.tenant_id, files)
        answer = await self._router.submit(command, origin_of(request, call))
        assert isinstance(answer, Deployment)  # noqa: S101  # what the handler answers
        return pb.CreateDeploymentResponse(
            deployment_key=answer.key,
            tenant_id=call.tenant_id,
            deployments=[_artefact(definition, call.tenant_id) for definition in answer.definitions],
        )


def _artefact(definition: DeployedProcess, tenant_id: str) -> pb.DeployedArtefact:
    process = pb.DeployedProcess(
        process_definition_id=definition.process_definition_id,
        process_definition_version=definition.version,
        resource_name=definition.resource_name,
        tenant_id=tenant_id,
        process_definition_key=definition.key,
    )
    return pb.DeployedArtefact(process_definition=process)
