"""Works with a Gnomon server as users of pyzeebe do.

Arguments: host and port of its gRPC listener, its token endpoint, the folder of the examples, and a folder for files.
"""

import asyncio
import os
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import grpc
from changes import Changes
from checks import check, eventually, refused, same
from pyzeebe import (
    Job,
    ZeebeClient,
    ZeebeWorker,
    create_insecure_channel,
    create_oauth2_client_credentials_channel,
)
from pyzeebe.errors import (
    ActivateJobsRequestInvalidError,
    BusinessError,
    DecisionNotFoundError,
    InvalidJSONError,
    JobAlreadyDeactivatedError,
    JobNotFoundError,
    MessageAlreadyExistsError,
    ProcessDefinitionHasNoStartEventError,
    ProcessDefinitionNotFoundError,
    ProcessInstanceNotFoundError,
    ProcessInvalidError,
    ProcessTimeoutError,
    UnknownGrpcStatusCodeError,
    ZeebeDeadlineExceeded,
)
from pyzeebe.grpc_internals.zeebe_adapter import ZeebeAdapter

PROCESS = "order-fulfilment"
NUMBER = 50
# The token endpoint of a test speaks HTTP.
os.environ["OAUTHLIB_INSECURE_TRANSPORT"] = "1"

GUARDED = """<?xml version="1.0" encoding="UTF-8"?>
<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL"
  xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" id="d" targetNamespace="urn:test">
  <bpmn:error id="broke" errorCode="BROKE" />
  <bpmn:process id="guarded" isExecutable="true">
    <bpmn:startEvent id="start" />
    <bpmn:sequenceFlow id="f1" sourceRef="start" targetRef="risky" />
    <bpmn:serviceTask id="risky">
      <bpmn:extensionElements><zeebe:taskDefinition type="risky" retries="2" /></bpmn:extensionElements>
    </bpmn:serviceTask>
    <bpmn:sequenceFlow id="f2" sourceRef="risky" targetRef="end" />
    <bpmn:endEvent id="end" />
    <bpmn:boundaryEvent id="caught" attachedToRef="risky">
      <bpmn:extensionElements>
        <zeebe:ioMapping><zeebe:output source="=true" target="isCaught" /></zeebe:ioMapping>
      </bpmn:extensionElements>
      <bpmn:errorEventDefinition id="e" errorRef="broke" />
    </bpmn:boundaryEvent>
    <bpmn:sequenceFlow id="f3" sourceRef="caught" targetRef="mended" />
    <bpmn:endEvent id="mended" />
  </bpmn:process>
</bpmn:definitions>
"""
# It begins with a message alone.
CALLED = """<?xml version="1.0" encoding="UTF-8"?>
<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL" id="d" targetNamespace="urn:test">
  <bpmn:message id="message" name="called" />
  <bpmn:process id="called" isExecutable="true">
    <bpmn:startEvent id="start"><bpmn:messageEventDefinition id="m" messageRef="message" /></bpmn:startEvent>
    <bpmn:sequenceFlow id="f1" sourceRef="start" targetRef="end" />
    <bpmn:endEvent id="end" />
  </bpmn:process>
</bpmn:definitions>
"""


def order(number: int) -> dict[str, object]:
    item = {"article": "book", "quantity": number + 2, "price": 1}
    return {
        "number": number,
        "priority": "express" if number % 2 == 0 else "normal",
        "order": {"customer": f"c-{number}", "items": [item]},
    }


def preorder(number: str, article: str) -> dict[str, object]:
    return {"preorder": {"number": number, "article": article}}


@asynccontextmanager
async def working(worker: ZeebeWorker) -> AsyncIterator[None]:
    running = asyncio.ensure_future(worker.work())
    try:
        yield
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


class Shop:
    """Workers for orders, which count what they have done."""

    def __init__(self, channel: grpc.aio.Channel, *, streams: bool) -> None:
        self.done = Counter[str]()
        self.worker = ZeebeWorker(channel, name="shop", stream_enabled=streams)
        self.worker.task(task_type="check-stock")(self.check_stock)
        self.worker.task(task_type="charge-card")(self.charge_card)
        self.worker.task(task_type="ship-order")(self.ship_order)
        self.worker.task(task_type="notify-customer")(self.notify_customer)

    @property
    def ended(self) -> int:
        return self.done["shipped"] + self.done["notified"]

    async def check_stock(self, number: int) -> dict[str, bool]:
        return {"inStock": number % 5 != 4}

    async def charge_card(self, job: Job, number: int, amount: int) -> dict[str, str]:
        same("charge-card", job.type)
        same(number + 2, amount)
        return {"transactionId": f"t-{number}"}

    async def ship_order(self, job: Job) -> None:
        same({"carrier": "post"} if job.bpmn_process_id == PROCESS else {}, dict(job.custom_headers))
        self.done["shipped"] += 1

    async def notify_customer(self) -> None:
        self.done["notified"] += 1


class Scenario:
    def __init__(self, client: ZeebeClient, channel: grpc.aio.Channel, examples: Path, files: Path) -> None:
        self.client = client
        self.channel = channel
        self.adapter = ZeebeAdapter(channel)
        self.examples = examples
        self.files = files

    async def run(self) -> None:
        await check("the gateway is healthy", self.is_healthy())
        await check("the topology has a leader of each partition", self.has_topology())
        await check("processes are deployed", self.deploys())
        await check("workers that poll work off fifty orders", self.works(streams=False))
        await check("workers that read streams work off fifty orders", self.works(streams=True))
        await check("a business error is caught in the process", self.throws())
        await check("a job is tried again after a fault", self.tries_again())
        await check("a result is awaited", self.awaits())
        await check("messages go to their instances", self.correlates())
        await check("signals are broadcast", self.broadcasts())
        await check("decisions are evaluated", self.decides())
        await check("an instance is cancelled", self.cancels())
        await check("faulty processes are refused", self.refuses_processes())
        await check("jobs that are gone are refused", self.refuses_jobs())

    async def is_healthy(self) -> None:
        same(1, (await self.client.healthcheck()).status)

    async def has_topology(self) -> None:
        topology = await self.client.topology()
        partitions = [each for broker in topology.brokers for each in broker.partitions]
        same(topology.partitions_count, len(partitions))
        same({("LEADER", "HEALTHY")}, {(each.role.name, each.health.name) for each in partitions})

    async def deploys(self) -> None:
        paths = [self.examples / f"{name}.bpmn" for name in (PROCESS, "article-preorder")]
        for name, content in (("guarded.bpmn", GUARDED), ("called.bpmn", CALLED)):
            (self.files / name).write_text(content)
            paths.append(self.files / name)
        answer = await self.client.deploy_resource(*paths)
        same(
            [PROCESS, "article-preorder", "guarded", "called"],
            [d.bpmn_process_id for d in answer.deployments],
        )
        same("default", answer.tenant_id)

    async def works(self, *, streams: bool) -> None:
        shop = Shop(self.channel, streams=streams)
        async with working(shop.worker):
            created = [await self.client.run_process(PROCESS, order(number)) for number in range(NUMBER)]
            same(NUMBER, len({each.process_instance_key for each in created}))
            await eventually(NUMBER, lambda: shop.ended)
        same({"shipped": 40, "notified": 10}, dict(shop.done))

    async def throws(self) -> None:
        worker = ZeebeWorker(self.channel)

        @worker.task(task_type="risky")
        async def risky() -> None:
            raise BusinessError("BROKE", "it broke")

        async with working(worker):
            answer = await self.client.run_process_with_result("guarded", {}, timeout=20_000)
        same({"isCaught": True}, answer.variables)

    async def tries_again(self) -> None:
        worker, tries = ZeebeWorker(self.channel), Counter[int]()

        @worker.task(task_type="risky")
        async def risky(job: Job) -> dict[str, int]:
            tries[job.process_instance_key] += 1
            if tries[job.process_instance_key] == 1:
                raise ConnectionError("not yet")
            return {"retries": job.retries}

        async with working(worker):
            answer = await self.client.run_process_with_result("guarded", {}, timeout=20_000)
        same({"retries": 1}, answer.variables)

    async def awaits(self) -> None:
        shop = Shop(self.channel, streams=False)
        async with working(shop.worker):
            answer = await self.client.run_process_with_result(
                PROCESS, order(1), timeout=20_000, variables_to_fetch=["payment"]
            )
        same({"payment": {"transactionId": "t-1", "amount": 3}}, answer.variables)
        await refused(ProcessTimeoutError, self.client.run_process_with_result("guarded", {}, timeout=100))

    async def correlates(self) -> None:
        shop = Shop(self.channel, streams=False)
        async with working(shop.worker):
            waiting = asyncio.ensure_future(
                self.client.run_process_with_result(
                    "article-preorder", preorder("o-1", "book"), timeout=20_000
                )
            )
            await self.client.publish_message("payment-received", "o-1", {"amount": 5})
            answer = await waiting
        same({"number": "o-1", "article": "book", "paid": 5}, answer.variables["preorder"])
        published = await self.client.publish_message(
            "called", "", message_id="one", time_to_live_in_milliseconds=60_000
        )
        same("default", published.tenant_id)
        again = self.client.publish_message(
            "called", "", message_id="one", time_to_live_in_milliseconds=60_000
        )
        await refused(MessageAlreadyExistsError, again)

    async def broadcasts(self) -> None:
        shop = Shop(self.channel, streams=False)
        async with working(shop.worker):
            await self.client.run_process("article-preorder", preorder("o-2", "tea"))
            answer = await self.client.broadcast_signal("withdrawn: tea", {"reason": "sold out"})
            await eventually({"notified": 1}, lambda: dict(shop.done))
        same("default", answer.tenant_id)

    async def decides(self) -> None:
        await self.client.deploy_resource(self.examples / "pricing.dmn")
        answer = await self.client.evaluate_decision(None, "discount", {"customer": "regular", "amount": 120})
        same("discount", answer.decision_id)
        same("", answer.failure_message)
        same({"level", "discount"}, {each.decision_id for each in answer.evaluated_decisions})
        await refused(DecisionNotFoundError, self.client.evaluate_decision(None, "none", {}))
        await refused(DecisionNotFoundError, self.client.evaluate_decision(1, None, {}))

    async def cancels(self) -> None:
        created = await self.client.run_process("guarded")
        await self.client.cancel_process_instance(created.process_instance_key)
        again = self.client.cancel_process_instance(created.process_instance_key)
        await refused(ProcessInstanceNotFoundError, again)

    async def refuses_processes(self) -> None:
        await refused(ProcessDefinitionNotFoundError, self.client.run_process("none"))
        await refused(ProcessDefinitionHasNoStartEventError, self.client.run_process("called"))
        await refused(InvalidJSONError, self.adapter.create_process_instance("guarded", -1, []))  # type: ignore[arg-type]
        broken = self.files / "broken.bpmn"
        broken.write_text("<bpmn:definitions")
        await refused(ProcessInvalidError, self.client.deploy_resource(broken))

    async def refuses_jobs(self) -> None:
        await refused(JobNotFoundError, self.adapter.complete_job(2**50, {}))
        await refused(JobNotFoundError, self.adapter.fail_job(2**50, 1, "", 0, {}))
        await refused(JobNotFoundError, self.adapter.throw_error(2**50, "", {}, "CODE"))
        await refused(JobNotFoundError, self.adapter.update_job_timeout(2**50, 1000))
        await self.client.run_process("guarded")
        (job,) = [job async for job in self.adapter.activate_jobs("risky", "w", 60_000, 1, [], 10_000)]
        await self.adapter.fail_job(job.key, 0, "it broke", 0, {})
        await refused(JobAlreadyDeactivatedError, self.adapter.complete_job(job.key, {}))
        invalid = self.adapter.activate_jobs("", "w", 60_000, 1, [], -1)
        await refused(ActivateJobsRequestInvalidError, anext(invalid))
        endless = self.adapter.stream_activate_jobs("none", "w", 60_000, [], 1)
        await refused(ZeebeDeadlineExceeded, anext(endless))


async def refuses_strangers(address: str) -> None:
    """Without a token."""
    async with create_insecure_channel(address) as channel:
        client = ZeebeClient(channel)
        await refused(UnknownGrpcStatusCodeError, client.topology())
        await refused(UnknownGrpcStatusCodeError, client.run_process("guarded"))


async def main(address: str, token_url: str, examples: str, files: str) -> None:
    channel = create_oauth2_client_credentials_channel(
        grpc_address=address,
        client_id="demo",
        client_secret="demo-secret",
        authorization_server=token_url,
        audience="gnomon",
        channel_credentials=grpc.local_channel_credentials(),
    )
    async with channel:
        client = ZeebeClient(channel)
        await Scenario(client, channel, Path(examples), Path(files)).run()
        await Changes(client, channel, token_url, Path(files)).run()
    await check("a client without a token is refused", refuses_strangers(address))


asyncio.run(main(*sys.argv[1:]))
