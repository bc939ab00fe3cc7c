"""What users of pyzeebe do by its generated stub, over the channel of their client: its client has no method for it."""

import asyncio
import json
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

import grpc
from checks import check, refused, same
from pyzeebe import Job, ZeebeClient
from pyzeebe.errors import JobNotFoundError
from pyzeebe.grpc_internals.zeebe_adapter import ZeebeAdapter
from pyzeebe.proto.gateway_pb2 import (
    DeleteResourceRequest,
    MigrateProcessInstanceRequest,
    ModifyProcessInstanceRequest,
    ResolveIncidentRequest,
    SetVariablesRequest,
    UpdateJobRetriesRequest,
)
from pyzeebe.proto.gateway_pb2_grpc import GatewayStub

ROUTE = """<?xml version="1.0" encoding="UTF-8"?>
<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL"
  xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" id="d" targetNamespace="urn:test">
  <bpmn:process id="route" isExecutable="true">
    <bpmn:startEvent id="start" />
    <bpmn:sequenceFlow id="f1" sourceRef="start" targetRef="{first}" />
    <bpmn:serviceTask id="{first}">
      <bpmn:extensionElements><zeebe:taskDefinition type="leg" retries="1" /></bpmn:extensionElements>
    </bpmn:serviceTask>
    <bpmn:sequenceFlow id="f2" sourceRef="{first}" targetRef="last" />
    <bpmn:serviceTask id="last">
      <bpmn:extensionElements><zeebe:taskDefinition type="last-leg" retries="1" /></bpmn:extensionElements>
    </bpmn:serviceTask>
    <bpmn:sequenceFlow id="f3" sourceRef="last" targetRef="end" />
    <bpmn:endEvent id="end" />
  </bpmn:process>
</bpmn:definitions>
"""


class Changes:
    def __init__(self, client: ZeebeClient, channel: grpc.aio.Channel, token_url: str, files: Path) -> None:
        self.client = client
        self.adapter = ZeebeAdapter(channel)
        self.stub = GatewayStub(channel)
        self.token_url = token_url
        self.files = files

    async def run(self) -> None:
        await check("an incident is resolved", self.resolves())
        await check("variables are set, and an instance is modified", self.modifies())
        await check("an instance is migrated", self.migrates())
        await check("a process is deleted", self.deletes())

    async def deploy(self, first: str) -> int:
        path = self.files / "route.bpmn"
        path.write_text(ROUTE.format(first=first))
        (deployed,) = (await self.client.deploy_resource(path)).deployments
        return int(deployed.process_definition_key)

    async def job(self, job_type: str) -> Job:
        (job,) = [job async for job in self.adapter.activate_jobs(job_type, "w", 60_000, 1, [], 10_000)]
        return job

    async def resolves(self) -> None:
        await self.deploy("first")
        created = await self.client.run_process("route")
        job = await self.job("leg")
        await self.adapter.fail_job(job.key, 0, "no fuel", 0, {})
        # No call of Zeebe's gateway finds an incident: users look it up over HTTP.
        found = await asyncio.to_thread(self.incidents, created.process_instance_key)
        same(["no fuel"], [incident["errorMessage"] for incident in found])
        await self.stub.UpdateJobRetries(UpdateJobRetriesRequest(jobKey=job.key, retries=1))
        await self.stub.ResolveIncident(ResolveIncidentRequest(incidentKey=int(found[0]["incidentKey"])))
        again = await self.job("leg")
        same((job.key, 1), (again.key, again.retries))
        await self.client.cancel_process_instance(created.process_instance_key)

    def incidents(self, process_instance_key: int) -> Any:
        form = {"grant_type": "client_credentials", "client_id": "demo", "client_secret": "demo-secret"}
        token = _answer(urllib.request.Request(self.token_url, urllib.parse.urlencode(form).encode()))  # noqa: S310  # a test's own server
        address = f"{self.token_url.partition('/auth/')[0]}/v2/incidents/search"
        asked = {"filter": {"processInstanceKey": str(process_instance_key), "state": "ACTIVE"}}
        headers = {"authorization": f"Bearer {token['access_token']}", "content-type": "application/json"}
        request = urllib.request.Request(address, json.dumps(asked).encode(), headers)  # noqa: S310  # the same
        return _answer(request)["items"]

    async def modifies(self) -> None:
        created = await self.client.run_process("route", {"load": 1})
        key = created.process_instance_key
        await self.stub.SetVariables(SetVariablesRequest(elementInstanceKey=key, variables='{"load": 2}'))
        job = await self.job("leg")
        same({"load": 2}, job.variables)
        activate = ModifyProcessInstanceRequest.ActivateInstruction(elementId="last")
        terminate = ModifyProcessInstanceRequest.TerminateInstruction(
            elementInstanceKey=job.element_instance_key
        )
        await self.stub.ModifyProcessInstance(
            ModifyProcessInstanceRequest(
                processInstanceKey=key, activateInstructions=[activate], terminateInstructions=[terminate]
            )
        )
        moved = await self.job("last-leg")
        same((key, "last"), (moved.process_instance_key, moved.element_id))
        await refused(JobNotFoundError, self.adapter.complete_job(job.key, {}))
        await self.adapter.complete_job(moved.key, {})

    async def migrates(self) -> None:
        created = await self.client.run_process("route")
        target = await self.deploy("begin")
        mapping = MigrateProcessInstanceRequest.MappingInstruction(
            sourceElementId="first", targetElementId="begin"
        )
        plan = MigrateProcessInstanceRequest.MigrationPlan(
            targetProcessDefinitionKey=target, mappingInstructions=[mapping]
        )
        await self.stub.MigrateProcessInstance(
            MigrateProcessInstanceRequest(processInstanceKey=created.process_instance_key, migrationPlan=plan)
        )
        job = await self.job("leg")
        same(
            ("begin", target, 2), (job.element_id, job.process_definition_key, job.process_definition_version)
        )
        await self.adapter.complete_job(job.key, {})
        last = await self.job("last-leg")
        await self.adapter.complete_job(last.key, {})

    async def deletes(self) -> None:
        key = await self.deploy("only")
        await self.stub.DeleteResource(DeleteResourceRequest(resourceKey=key))
        same(2, (await self.client.run_process("route")).version)


def _answer(request: urllib.request.Request) -> Any:
    with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310  # a test's own server
        return json.load(answer)
