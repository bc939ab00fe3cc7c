"""Faults of ours in the middle of a command: what the command began is taken back."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import msgspec
import pytest

from server.bpmn.builder import process
from server.bpmn.reader import BpmnReadError
from server.engine.deployment_commands import DeployResources
from server.engine.job_commands import ActivateJobs, CompleteJob
from server.engine.process_instance_commands import CreateProcessInstance
from tests.server.engine.player import photograph
from tests.server.engine.scenario import MINUTE, Scenario, resource
from tests.server.engine.strategies import POISON


class FailingLater(tuple[str, ...]):  # noqa: SLOT001  # it counts
    """Can be gone through once."""

    times = 0

    def __iter__(self) -> Iterator[str]:
        self.times += 1
        if self.times > 1:
            raise RuntimeError("a fault of ours")
        return super().__iter__()


def test_a_completion_that_falls_over_later_is_no_completion(engine: Scenario) -> None:
    builder = process("order").service_task("a", type="a").task("pass").exclusive_gateway("decide")
    engine.deploy(builder.flow(condition="=answer").end()).start()
    engine.activate("a")
    before = photograph(engine.state)

    with pytest.raises(msgspec.DecodeError):
        engine.execute(CompleteJob("default", engine.job("a").key, {"answer": POISON}))

    assert photograph(engine.state) == before
    engine.execute(CompleteJob("default", engine.job("a").key, {"answer": "true"}))
    assert engine.is_completed


def test_a_start_that_falls_over_is_no_start(engine: Scenario) -> None:
    engine.deploy(process("order").service_task("a", type="a", inputs={"x": "=answer"}).end())
    before = photograph(engine.state)

    with pytest.raises(msgspec.DecodeError):
        engine.execute(
            CreateProcessInstance(
                tenant_id="default", process_definition_id="order", variables={"answer": POISON}
            )
        )

    assert photograph(engine.state) == before


def test_an_activation_that_falls_over_gives_every_job_back_to_its_place(engine: Scenario) -> None:
    engine.deploy(process("order").service_task("a", type="a").end())
    instances = [engine.start().instance_key for _ in range(3)]
    engine.fail("a", retries=2)
    before = photograph(engine.state)
    command = ActivateJobs(
        tenant_id="default",
        type="a",
        worker="w",
        timeout=MINUTE,
        max_jobs=3,
        fetch_variables=FailingLater(("x",)),
    )

    with pytest.raises(RuntimeError):
        engine.execute(command)

    assert photograph(engine.state) == before
    assert [job.instance.key for job in engine.activate("a")] == [*instances[1:], instances[0]]


def test_a_deployment_that_falls_over_leaves_no_definition(engine: Scenario) -> None:
    engine.deploy(process("order").end())
    before = photograph(engine.state)
    order, refund = resource(process("order").task("more").end()), resource(process("refund").end())
    unreadable = replace(refund, content=b"<html/>")

    with pytest.raises(BpmnReadError):
        engine.execute(DeployResources("default", (order, unreadable)))

    assert photograph(engine.state) == before
    (again,) = engine.deployment(process("order").task("more").end()).definitions
    assert again.version == 2


def test_time_goes_on_after_a_fault(engine: Scenario) -> None:
    builder = (
        process("order").service_task("a", type="a").exclusive_gateway("decide").flow(condition="=x").end()
    )
    engine.deploy(builder).start().activate("a", timeout=MINUTE)

    with pytest.raises(msgspec.DecodeError):
        engine.execute(CompleteJob("default", engine.job("a").key, {"x": POISON}))

    engine.advance(MINUTE)
    assert engine.offered == ["a"]
    assert engine.advance(timedelta(hours=1)).is_running
