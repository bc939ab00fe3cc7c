"""The RPCs of Zeebe's gateway, each a translated call of the contract."""

from google.protobuf.descriptor import ServiceDescriptor

from gnomon.engine.v1 import conditional_service_pb2 as conditional_pb
from gnomon.engine.v1 import decision_definition_service_pb2 as decision_pb
from gnomon.engine.v1 import deployment_service_pb2 as deployment_pb
from gnomon.engine.v1 import element_instance_service_pb2 as element_pb
from gnomon.engine.v1 import incident_service_pb2 as incident_pb
from gnomon.engine.v1 import job_service_pb2 as job_pb
from gnomon.engine.v1 import message_service_pb2 as message_pb
from gnomon.engine.v1 import process_instance_service_pb2 as instance_pb
from gnomon.engine.v1 import resource_service_pb2 as resource_pb
from gnomon.engine.v1 import signal_service_pb2 as signal_pb
from gnomon.engine.v1 import topology_service_pb2 as topology_pb
from gnomon.gateway_protocol import gateway_pb2 as pb
from server.gateway import (
    conditionals,
    decisions,
    deployments,
    incidents,
    jobs,
    messages,
    modifications,
    process_instances,
    signals,
)
from server.gateway.contract import Contract
from server.gateway.topology import topology
from server.platform.call import Call
from server.platform.dispatch import Dispatcher, ResponseStream

SERVICE: ServiceDescriptor = pb.DESCRIPTOR.services_by_name["Gateway"]


class GatewayServicer:
    """Serves Zeebe's RPCs; `dispatcher` has the RPCs of the contract."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._contract = Contract(dispatcher)

    async def topology(self, request: pb.TopologyRequest, call: Call) -> pb.TopologyResponse:
        own = topology_pb.GetTopologyRequest()
        return topology(await self._contract.call(own, topology_pb.GetTopologyResponse, call))

    # Deployments

    async def deploy_resource(
        self, request: pb.DeployResourceRequest, call: Call
    ) -> pb.DeployResourceResponse:
        own = deployments.resources(request)
        answer = await self._contract.call(own, deployment_pb.CreateDeploymentResponse, call)
        return deployments.deployed_resources(answer)

    async def deploy_process(self, request: pb.DeployProcessRequest, call: Call) -> pb.DeployProcessResponse:
        own = deployments.processes(request)
        answer = await self._contract.call(own, deployment_pb.CreateDeploymentResponse, call)
        return deployments.deployed_processes(answer)

    async def delete_resource(
        self, request: pb.DeleteResourceRequest, call: Call
    ) -> pb.DeleteResourceResponse:
        own = deployments.deletion(request)
        return deployments.deleted(await self._contract.call(own, resource_pb.DeleteResourceResponse, call))

    # Process instances

    async def create_process_instance(
        self, request: pb.CreateProcessInstanceRequest, call: Call
    ) -> pb.CreateProcessInstanceResponse:
        own = process_instances.creation(request)
        answer = await self._contract.call(own, instance_pb.CreateProcessInstanceResponse, call)
        return process_instances.created(answer)

    async def create_process_instance_with_result(
        self, request: pb.CreateProcessInstanceWithResultRequest, call: Call
    ) -> pb.CreateProcessInstanceWithResultResponse:
        own = process_instances.awaited_creation(request)
        answer = await self._contract.call(own, instance_pb.CreateProcessInstanceResponse, call)
        return process_instances.completed(answer)

    async def cancel_process_instance(
        self, request: pb.CancelProcessInstanceRequest, call: Call
    ) -> pb.CancelProcessInstanceResponse:
        own = process_instances.cancellation(request)
        await self._contract.call(own, instance_pb.CancelProcessInstanceResponse, call)
        return pb.CancelProcessInstanceResponse()

    async def modify_process_instance(
        self, request: pb.ModifyProcessInstanceRequest, call: Call
    ) -> pb.ModifyProcessInstanceResponse:
        own = modifications.modification(request)
        await self._contract.call(own, instance_pb.ModifyProcessInstanceResponse, call)
        return pb.ModifyProcessInstanceResponse()

    async def migrate_process_instance(
        self, request: pb.MigrateProcessInstanceRequest, call: Call
    ) -> pb.MigrateProcessInstanceResponse:
        own = process_instances.migration(request)
        await self._contract.call(own, instance_pb.MigrateProcessInstanceResponse, call)
        return pb.MigrateProcessInstanceResponse()

    # Jobs

    async def activate_jobs(
        self, request: pb.ActivateJobsRequest, call: Call, stream: ResponseStream[pb.ActivateJobsResponse]
    ) -> None:
        own = jobs.activation(request)
        answer = await self._contract.call(own, job_pb.ActivateJobsResponse, call)
        if answer.jobs:
            await stream.write(jobs.activated(answer))

    async def stream_activated_jobs(
        self, request: pb.StreamActivatedJobsRequest, call: Call, stream: ResponseStream[pb.ActivatedJob]
    ) -> None:
        async def write(answer: job_pb.StreamActivatedJobsResponse) -> None:
            await stream.write(jobs.activated_job(answer.job))

        await self._contract.stream(jobs.subscription(request), write, call)

    async def complete_job(self, request: pb.CompleteJobRequest, call: Call) -> pb.CompleteJobResponse:
        await self._contract.call(jobs.completion(request), job_pb.CompleteJobResponse, call)
        return pb.CompleteJobResponse()

    async def fail_job(self, request: pb.FailJobRequest, call: Call) -> pb.FailJobResponse:
        await self._contract.call(jobs.failure(request), job_pb.FailJobResponse, call)
        return pb.FailJobResponse()

    async def throw_error(self, request: pb.ThrowErrorRequest, call: Call) -> pb.ThrowErrorResponse:
        await self._contract.call(jobs.error(request), job_pb.ThrowJobErrorResponse, call)
        return pb.ThrowErrorResponse()

    async def update_job_retries(
        self, request: pb.UpdateJobRetriesRequest, call: Call
    ) -> pb.UpdateJobRetriesResponse:
        await self._contract.call(jobs.retries(request), job_pb.UpdateJobResponse, call)
        return pb.UpdateJobRetriesResponse()

    async def update_job_timeout(
        self, request: pb.UpdateJobTimeoutRequest, call: Call
    ) -> pb.UpdateJobTimeoutResponse:
        await self._contract.call(jobs.deadline(request), job_pb.UpdateJobResponse, call)
        return pb.UpdateJobTimeoutResponse()

    # Events

    async def publish_message(
        self, request: pb.PublishMessageRequest, call: Call
    ) -> pb.PublishMessageResponse:
        own = messages.publication(request)
        return messages.published(await self._contract.call(own, message_pb.PublishMessageResponse, call))

    async def broadcast_signal(
        self, request: pb.BroadcastSignalRequest, call: Call
    ) -> pb.BroadcastSignalResponse:
        own = signals.signal(request)
        return signals.sent(await self._contract.call(own, signal_pb.BroadcastSignalResponse, call))

    async def evaluate_conditional(
        self, request: pb.EvaluateConditionalRequest, call: Call
    ) -> pb.EvaluateConditionalResponse:
        own = conditionals.evaluation(request)
        answer = await self._contract.call(own, conditional_pb.EvaluateConditionalsResponse, call)
        return conditionals.evaluated(answer)

    # Decisions

    async def evaluate_decision(
        self, request: pb.EvaluateDecisionRequest, call: Call
    ) -> pb.EvaluateDecisionResponse:
        own = decisions.evaluation(request)
        return decisions.evaluated(await self._contract.call(own, decision_pb.EvaluateDecisionResponse, call))

    # Operators

    async def resolve_incident(
        self, request: pb.ResolveIncidentRequest, call: Call
    ) -> pb.ResolveIncidentResponse:
        own = incidents.resolution(request)
        await self._contract.call(own, incident_pb.ResolveIncidentResponse, call)
        return pb.ResolveIncidentResponse()

    async def set_variables(self, request: pb.SetVariablesRequest, call: Call) -> pb.SetVariablesResponse:
        own = incidents.variables(request)
        await self._contract.call(own, element_pb.CreateElementInstanceVariablesResponse, call)
        return pb.SetVariablesResponse()
