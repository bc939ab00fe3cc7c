"""Entities of a tenant do not exist for another."""

from collections.abc import Callable

import pytest

from server.bpmn.builder import process
from server.engine import (
    deployment_commands,
    job_commands,
    migration_commands,
    modification_commands,
    process_instance_commands,
)
from server.engine.commands import Command
from server.engine.rejection import RejectionType
from tests.server.engine.scenario import MINUTE, Scenario

OTHER = "other"


@pytest.fixture
def owned(engine: Scenario) -> Scenario:
    """An instance of tenant `default` with an offered job, and one with an incident."""
    engine.deploy(process("order").service_task("a", type="a").end()).start().fail("a").start()
    return engine


COMMANDS: dict[str, Callable[[Scenario], Command]] = {
    "start by id": lambda _: process_instance_commands.CreateProcessInstance(
        tenant_id=OTHER, process_definition_id="order"
    ),
    "start by key": lambda engine: process_instance_commands.CreateProcessInstance(
        tenant_id=OTHER, process_definition_key=next(iter(engine.state.definitions))
    ),
    "delete": lambda engine: deployment_commands.DeleteResource(OTHER, next(iter(engine.state.definitions))),
    "cancel": lambda engine: process_instance_commands.CancelProcessInstance(OTHER, engine.instance_key),
    "delete history": lambda engine: process_instance_commands.DeleteProcessInstance(
        OTHER, engine.instance_key, is_stored=False
    ),
    "migrate": lambda engine: migration_commands.MigrateProcessInstance(
        tenant_id=OTHER,
        process_instance_key=engine.instance_key,
        target_process_definition_key=engine.instance.head.process_definition_key,
        mapping_instructions=(migration_commands.MappingInstruction("a", "a"),),
    ),
    "modify": lambda engine: modification_commands.ModifyProcessInstance(
        tenant_id=OTHER,
        process_instance_key=engine.instance_key,
        terminate_instructions=(modification_commands.TerminateInstruction(element_id="a"),),
    ),
    "complete": lambda engine: job_commands.CompleteJob(OTHER, engine.job("a").key),
    "fail": lambda engine: job_commands.FailJob(tenant_id=OTHER, job_key=engine.job("a").key),
    "throw": lambda engine: job_commands.ThrowJobError(
        tenant_id=OTHER, job_key=engine.job("a").key, error_code="x"
    ),
    "update": lambda engine: job_commands.UpdateJob(tenant_id=OTHER, job_key=engine.job("a").key, retries=1),
    "resolve": lambda engine: process_instance_commands.ResolveIncident(OTHER, engine.incident.key),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_another_tenant_finds_nothing(owned: Scenario, name: str) -> None:
    assert owned.refusal(COMMANDS[name](owned)).type is RejectionType.NOT_FOUND


@pytest.mark.parametrize("name", COMMANDS)
def test_another_tenant_reads_the_same_about_what_is_not_there(owned: Scenario, name: str) -> None:
    command = COMMANDS[name](owned)
    reason = owned.refusal(command).reason

    assert Scenario().refusal(command).reason == reason


def test_jobs_go_to_workers_of_their_tenant_alone(owned: Scenario) -> None:
    owned.tenant_id = OTHER
    owned.deploy(process("mine").service_task("a", type="a").end()).start()

    mine = owned.activate("a")
    owned.tenant_id = "default"
    theirs = owned.activate("a", timeout=MINUTE)

    assert [job.instance.process_definition_id for job in mine] == ["mine"]
    assert [job.instance.process_definition_id for job in theirs] == ["order"]
