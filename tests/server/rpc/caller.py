"""Calls RPCs by name over whatever channel, with a credential."""

from typing import TYPE_CHECKING, Any

import grpc

from server.bpmn.builder import ProcessBuilder
from server.platform.channels import Channel, error_of
from server.platform.errors import ServiceError
from server.platform.policy import Policy, policies_of, services

if TYPE_CHECKING:
    from google.protobuf.message import Message

POLICIES: dict[str, Policy] = {
    policy.name: policy for service in services() for policy in policies_of(service).values()
}
EVERYTHING = frozenset(policy.permission for policy in POLICIES.values())
SECONDS = 20


class Caller:
    """Raises the ServiceError that the servicer or an interceptor raised."""

    def __init__(self, channel: Channel, credential: str = "worker", *headers: tuple[str, str]) -> None:
        self._channel = channel
        self._credential = credential
        self._headers = headers

    def signed_in_as(self, credential: str, *headers: tuple[str, str]) -> "Caller":
        return Caller(self._channel, credential, *self._headers, *headers)

    def with_key(self, key: str) -> "Caller":
        """Repeats its commands safely, by that idempotency key."""
        return Caller(self._channel, self._credential, *self._headers, ("idempotency-key", key))

    async def __call__(self, rpc: str, **fields: object) -> Any:
        policy = POLICIES[rpc]
        call = self._channel.unary_unary(
            policy.path, policy.request.SerializeToString, policy.response.FromString
        )
        metadata = (("authorization", f"Bearer {self._credential}"), *self._headers)
        request: Message = policy.request(**fields)
        try:
            return await call(request, metadata=metadata, timeout=SECONDS)
        except grpc.RpcError as failure:
            raise self._refusal(failure) from failure

    @staticmethod
    def _refusal(failure: grpc.RpcError) -> ServiceError:
        return error_of(failure)

    async def deploy(self, builder: ProcessBuilder) -> int:
        """Key of the deployed process definition."""
        resource = {"name": "process.bpmn", "content": builder.to_xml()}
        response = await self("CreateDeployment", resources=[resource])
        return int(response.deployments[0].process_definition.process_definition_key)

    async def start(self, process_id: str, variables: bytes = b"") -> int:
        response = await self("CreateProcessInstance", process_definition_id=process_id, variables=variables)
        return int(response.process_instance_key)

    async def activate(self, job_type: str, most: int = 10) -> list[Any]:
        response = await self(
            "ActivateJobs", type=job_type, timeout=60_000, max_jobs_to_activate=most, request_timeout=-1
        )
        return list(response.jobs)
