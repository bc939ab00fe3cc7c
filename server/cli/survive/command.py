"""The `gnomon survive` command: does half of the work, kills the server, restarts it and does the rest."""

import asyncio
import tempfile
from pathlib import Path

import msgspec

from gnomon.engine.v1 import deployment_service_pb2 as deployment_pb
from gnomon.engine.v1 import process_instance_service_pb2 as instance_pb
from gnomon.engine.v1.deployment_service_pb2_grpc import DeploymentServiceStub
from gnomon.engine.v1.process_instance_service_pb2_grpc import ProcessInstanceServiceStub
from server.cli.demo.handlers import RULES, handler_of
from server.cli.demo.scenarios import SCENARIOS
from server.cli.deploy import resource
from server.cli.instance import show_instance
from server.cli.output import Output
from server.cli.session import Session, connected
from server.cli.survive.own_process import OwnProcess
from server.cli.worker import Worker, WorkerOptions

SCENARIO = SCENARIOS[0]
BEFORE = ("check-stock",)
AFTER = ("charge-card", "ship-order")
NUMBER = 1


def survive() -> None:
    with tempfile.TemporaryDirectory(prefix="gnomon-") as folder:
        # A server started as root switches to another account, which must be able to traverse this folder.
        Path(folder).chmod(0o711)
        asyncio.run(_survive(OwnProcess(Path(folder)), Output(is_json=False)))


async def _survive(server: OwnProcess, output: Output) -> None:
    try:
        await _story(server, output)
    finally:
        await server.stop()


async def _story(server: OwnProcess, output: Output) -> None:
    output.print("The server starts, with a database of its own.")
    async with connected(await server.start()) as session:
        key = await _begun(session)
        await _work(session, BEFORE)
        output.print("\nA process instance, with its first job done:\n")
        await show_instance(session, output, key)
    await server.kill()
    output.print("\nThe server was killed, and starts again in the same directory.")
    async with connected(await server.start()) as session:
        output.print("\nThe same process instance:\n")
        await show_instance(session, output, key)
        await _work(session, AFTER)
        output.print("\nAnd with its other jobs done:\n")
        await show_instance(session, output, key)


async def _begun(session: Session) -> int:
    deployment = deployment_pb.CreateDeploymentRequest(resources=[resource(SCENARIO.file)])
    await session.call(DeploymentServiceStub(session.channel).CreateDeployment, deployment)
    request = instance_pb.CreateProcessInstanceRequest(
        process_definition_id=SCENARIO.process_id, variables=msgspec.json.encode(SCENARIO.variables(NUMBER))
    )
    stub = ProcessInstanceServiceStub(session.channel)
    return (await session.call(stub.CreateProcessInstance, request)).process_instance_key


async def _work(session: Session, job_types: tuple[str, ...]) -> None:
    """Complete one job of each type in turn."""
    for job_type in job_types:
        options = WorkerOptions(job_type=job_type, name="survive", most=1)
        await Worker(session, options, handler_of(RULES[job_type]), lambda _job, _reported: None).run()
