"""One run of the demo: start instances, complete jobs and user tasks, publish messages, resolve incidents."""

import asyncio
import secrets
from collections import Counter
from collections.abc import Callable, Sequence

import msgspec

from gnomon.engine.v1 import deployment_service_pb2 as deployment_pb
from gnomon.engine.v1 import incident_service_pb2 as incident_pb
from gnomon.engine.v1 import job_pb2
from gnomon.engine.v1 import message_service_pb2 as message_pb
from gnomon.engine.v1 import process_instance_service_pb2 as instance_pb
from gnomon.engine.v1 import signal_service_pb2 as signal_pb
from gnomon.engine.v1.deployment_service_pb2_grpc import DeploymentServiceStub
from gnomon.engine.v1.incident_service_pb2_grpc import IncidentServiceStub
from gnomon.engine.v1.message_service_pb2_grpc import MessageServiceStub
from gnomon.engine.v1.process_instance_service_pb2_grpc import ProcessInstanceServiceStub
from gnomon.engine.v1.signal_service_pb2_grpc import SignalServiceStub
from server.cli.choices import IncidentState, page
from server.cli.demo.handlers import RETRIES_OF_AN_OPERATOR, RULES, handler_of
from server.cli.demo.people import People
from server.cli.demo.scenarios import Message, Scenario
from server.cli.demo.tally import InstanceCounter, Tally
from server.cli.deploy import resource
from server.cli.incidents import resolve_incident
from server.cli.session import Session
from server.cli.worker import Completed, Failed, Reported, Worker, WorkerOptions

_STARTS_AT_A_TIME = 4
_LOOK_SECONDS = 0.1
_BROADCAST_SECONDS = 0.5
_MESSAGE_MILLISECONDS = 60_000
_PAGE = 100

Watch = Callable[[Sequence[Tally]], None]


class Play:
    """A run of the demo; `jobs` counts jobs by process and outcome."""

    def __init__(self, session: Session, scenarios: Sequence[Scenario], *, instances: int) -> None:
        self._session = session
        self._scenarios = scenarios
        self._instances = instances
        self._tag = f"demo-{secrets.token_hex(4)}"
        self._counting = InstanceCounter(session, self._tag)
        self.jobs: Counter[tuple[str, str]] = Counter()

    async def run(self, watch: Watch, *, seconds: float) -> list[Tally]:
        """Return the final counts, after all instances completed or after this number of seconds."""
        await self._deploy()
        workers = [self._worker(job_type) for job_type in RULES]
        async with asyncio.TaskGroup() as tasks:
            background = [
                *(tasks.create_task(worker.run()) for worker in workers),
                tasks.create_task(self._start_all()),
                tasks.create_task(self._resolve_incidents()),
                tasks.create_task(People(self._session, self._tag).run()),
                tasks.create_task(self._broadcast()),
            ]
            try:
                async with asyncio.timeout(seconds):
                    await self._completed(watch)
            except TimeoutError:
                pass
            finally:
                for task in background:
                    task.cancel()
        return await self._tallies()

    async def _deploy(self) -> None:
        files = [resource(scenario.file) for scenario in self._scenarios]
        request = deployment_pb.CreateDeploymentRequest(resources=files)
        await self._session.call(DeploymentServiceStub(self._session.channel).CreateDeployment, request)

    def _worker(self, job_type: str) -> Worker:
        options = WorkerOptions(job_type=job_type, name="demo")
        return Worker(self._session, options, handler_of(RULES[job_type]), self._count)

    def _count(self, job: job_pb2.ActivatedJob, reported: Reported) -> None:
        if isinstance(reported, Completed):
            self.jobs[job.process_definition_id, "completed"] += 1
        elif isinstance(reported, Failed):
            self.jobs[job.process_definition_id, "failed"] += 1

    async def _start_all(self) -> None:
        places = asyncio.Semaphore(_STARTS_AT_A_TIME)
        async with asyncio.TaskGroup() as tasks:
            for number in range(1, self._instances + 1):
                for scenario in self._scenarios:
                    await places.acquire()
                    started = tasks.create_task(self._start(scenario, number))
                    started.add_done_callback(lambda _: places.release())

    async def _start(self, scenario: Scenario, number: int) -> None:
        request = instance_pb.CreateProcessInstanceRequest(
            process_definition_id=scenario.process_id,
            variables=msgspec.json.encode(scenario.variables(number)),
            tags=[self._tag],
        )
        stub = ProcessInstanceServiceStub(self._session.channel)
        await self._session.call(stub.CreateProcessInstance, request)
        for message in scenario.messages(number):
            await self._publish(message)

    async def _publish(self, message: Message) -> None:
        request = message_pb.PublishMessageRequest(
            name=message.name,
            correlation_key=message.correlation_key,
            time_to_live=_MESSAGE_MILLISECONDS,
            variables=msgspec.json.encode(message.variables),
        )
        await self._session.call(MessageServiceStub(self._session.channel).PublishMessage, request)

    async def _broadcast(self) -> None:
        stub = SignalServiceStub(self._session.channel)
        while True:
            for signal in (signal for scenario in self._scenarios for signal in scenario.signals):
                await self._session.call(
                    stub.BroadcastSignal, signal_pb.BroadcastSignalRequest(signal_name=signal)
                )
            await asyncio.sleep(_BROADCAST_SECONDS)

    async def _resolve_incidents(self) -> None:
        matching = incident_pb.IncidentFilter(state=IncidentState.ACTIVE.filter(), tags=[self._tag])
        request = incident_pb.SearchIncidentsRequest(filter=matching, page=page(_PAGE))
        stub = IncidentServiceStub(self._session.channel)
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            for incident in (await self._session.call(stub.SearchIncidents, request)).items:
                await resolve_incident(self._session, incident, RETRIES_OF_AN_OPERATOR)

    async def _completed(self, watch: Watch) -> None:
        while True:
            tallies = await self._tallies()
            watch(tallies)
            if all(tally.completed == self._instances for tally in tallies):
                return
            await asyncio.sleep(_LOOK_SECONDS)

    async def _tallies(self) -> list[Tally]:
        return await self._counting.tallies([scenario.process_id for scenario in self._scenarios])
