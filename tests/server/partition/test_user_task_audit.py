"""The audit log tells each change of a user task, whatever command brought it."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from server.bpmn.builder import process
from server.engine import (
    commands,
    deployment_commands,
    job_commands,
    migration_commands,
    process_instance_commands,
    user_task_commands,
)
from server.engine.job_results import UserTaskResult
from server.engine.keys import Key
from server.partition.origin import Origin
from server.platform.errors import ServiceError
from server.store.entities import AuditEntry
from tests.server.engine.form_files import form
from tests.server.engine.scenario import resource
from tests.server.partition.harness import Harness, Serving

ORIGIN = Origin("default", "ann", "r-1", operation_reference=7)
REVIEW = (
    process("review")
    .service_task("prepare", type="prepare")
    .user_task("check", assignment={"assignee": "bob"})
    .end()
    .boundary_timer("late", on="check", duration="PT1M")
    .end()
)


async def asked(harness: Harness, command: commands.Command) -> list[AuditEntry]:
    """The entries of user tasks that a command brings."""
    harness.store.batches.clear()
    try:
        await harness.partition.submit(command, ORIGIN)
    except ServiceError:
        await harness.partition.settle()
    return noted(harness)


def noted(harness: Harness) -> list[AuditEntry]:
    entries = [entry for batch in harness.store.batches for entry in batch.audit]
    return [entry for entry in entries if entry.entity_type == "USER_TASK"]


async def entered(harness: Harness) -> list[AuditEntry]:
    """Complete the job before the user task."""
    await harness.partition.submit(
        deployment_commands.DeployResources("default", (resource(REVIEW),)), ORIGIN
    )
    creation = process_instance_commands.CreateProcessInstance(
        tenant_id="default", process_definition_id="review"
    )
    await harness.partition.submit(creation, ORIGIN)
    (job_key,) = [key for instance in harness.state.instances.values() for key in instance.jobs]
    return await asked(harness, job_commands.CompleteJob("default", job_key))


def user_task_key(harness: Harness) -> Key:
    (key,) = [key for instance in harness.state.instances.values() for key in instance.user_tasks]
    return key


async def test_a_job_that_leads_to_a_user_task_creates_and_assigns_it(serving: Serving) -> None:
    async with serving() as harness:
        entries = await entered(harness)

        (instance,) = harness.state.instances.values()
        (task,) = instance.user_tasks.values()
        assert [entry.operation_type for entry in entries] == ["CREATE", "ASSIGN"]
        for entry in entries:
            assert (entry.entity_key, entry.element_instance_key) == (task.key, task.element_instance_key)
            assert (entry.actor_id, entry.operation_reference, entry.request_id) == ("ann", 7, "r-1")
            assert entry.process_instance_key == instance.head.key


async def test_time_cancels_a_user_task_for_nobody(serving: Serving) -> None:
    async with serving() as harness:
        await entered(harness)
        harness.store.batches.clear()

        await harness.advance(timedelta(minutes=1))

        (entry,) = noted(harness)
        assert (entry.operation_type, entry.actor_type, entry.actor_id) == ("CANCEL", "UNKNOWN", "")


async def test_a_cancelled_instance_cancels_its_user_tasks_for_its_caller(serving: Serving) -> None:
    async with serving() as harness:
        await entered(harness)
        (instance,) = harness.state.instances.values()

        (entry,) = await asked(
            harness, process_instance_commands.CancelProcessInstance("default", instance.head.key)
        )

        assert (entry.operation_type, entry.actor_id) == ("CANCEL", "ann")


@pytest.mark.parametrize(
    ("make", "operation_type"),
    [
        pytest.param(
            lambda key: user_task_commands.AssignUserTask(
                tenant_id="default", user_task_key=key, assignee="ann"
            ),
            "ASSIGN",
            id="assign",
        ),
        pytest.param(
            lambda key: user_task_commands.UnassignUserTask("default", key), "UNASSIGN", id="unassign"
        ),
        pytest.param(
            lambda key: user_task_commands.UpdateUserTask(tenant_id="default", user_task_key=key, priority=1),
            "UPDATE",
            id="update",
        ),
        pytest.param(
            lambda key: user_task_commands.CompleteUserTask("default", key), "COMPLETE", id="complete"
        ),
    ],
)
async def test_a_command_on_a_user_task_has_one_entry(
    serving: Serving, make: object, operation_type: str
) -> None:
    assert callable(make)
    async with serving() as harness:
        await entered(harness)
        key = user_task_key(harness)

        succeeded = await asked(harness, make(key))
        refused = await asked(harness, make(Key(42)))

        assert [(entry.operation_type, entry.result) for entry in succeeded] == [(operation_type, "SUCCESS")]
        assert [(entry.operation_type, entry.result) for entry in refused] == [(operation_type, "FAIL")]
        assert (refused[0].entity_key, refused[0].reason) == (42, "NOT_FOUND")


async def test_the_entry_of_a_refused_command_has_the_place_of_the_user_task(serving: Serving) -> None:
    async with serving() as harness:
        await entered(harness)
        (instance,) = harness.state.instances.values()
        (task,) = instance.user_tasks.values()
        held = user_task_commands.AssignUserTask(
            tenant_id="default", user_task_key=task.key, assignee="eve", allow_override=False
        )

        (entry,) = await asked(harness, held)

        assert (entry.operation_type, entry.result, entry.reason) == ("ASSIGN", "FAIL", "INVALID_STATE")
        assert (entry.entity_key, entry.element_instance_key) == (task.key, task.element_instance_key)
        assert entry.process_instance_key == instance.head.key
        assert entry.process_definition_key == instance.head.process_definition_key


async def test_entries_of_a_called_process_instance_have_the_caller_as_root(serving: Serving) -> None:
    async with serving() as harness:
        caller = process("caller").call_activity("call", process="called").end()
        models = (resource(process("called").start().user_task("check").end()), resource(caller))
        await harness.partition.submit(deployment_commands.DeployResources("default", models), ORIGIN)
        creation = process_instance_commands.CreateProcessInstance(
            tenant_id="default", process_definition_id="caller"
        )
        (created,) = await asked(harness, creation)
        key = user_task_key(harness)
        assign = user_task_commands.AssignUserTask(tenant_id="default", user_task_key=key, assignee="ann")
        (assigned,) = await asked(harness, assign)

        (refused,) = await asked(harness, replace(assign, allow_override=False))

        root, called = sorted(harness.state.instances)
        for entry, result in ((created, "SUCCESS"), (assigned, "SUCCESS"), (refused, "FAIL")):
            assert entry.result == result
            assert (entry.process_instance_key, entry.root_process_instance_key) == (called, root)


async def test_the_entry_of_a_stranger_has_no_keys_of_the_tenant_that_owns_the_user_task(
    serving: Serving,
) -> None:
    async with serving() as harness:
        await entered(harness)
        key = user_task_key(harness)
        harness.store.batches.clear()

        with pytest.raises(ServiceError):
            await harness.partition.submit(
                user_task_commands.UnassignUserTask("other", key), Origin("other", "eve", "r-2")
            )
        await harness.partition.settle()

        (entry,) = noted(harness)
        assert (entry.tenant_id, entry.entity_key, entry.reason) == ("other", key, "NOT_FOUND")
        assert (entry.process_instance_key, entry.element_instance_key) == (None, None)


async def test_a_migration_has_an_entry_for_each_user_task(serving: Serving) -> None:
    async with serving() as harness:
        await entered(harness)
        (instance,) = harness.state.instances.values()

        entries = await asked(
            harness,
            migration_commands.MigrateProcessInstance(
                tenant_id="default",
                process_instance_key=instance.head.key,
                target_process_definition_key=instance.head.process_definition_key,
                mapping_instructions=(
                    migration_commands.MappingInstruction("check", "check"),
                    migration_commands.MappingInstruction("late", "late"),
                ),
            ),
        )

        assert [(entry.operation_type, entry.entity_key) for entry in entries] == [
            ("MIGRATE", user_task_key(harness))
        ]


SHOWN = (
    process("shown")
    .start()
    .user_task("check", form={"formId": "address"}, assignment={"assignee": "bob"})
    .task_listener("completing", type="listen")
    .end()
)


async def test_every_entry_of_a_user_task_names_its_form(serving: Serving) -> None:
    async with serving() as harness:
        deployment = deployment_commands.DeployResources("default", (resource(SHOWN),), (), (form(),))
        await harness.partition.submit(deployment, ORIGIN)
        (form_key,) = harness.state.forms.files
        creation = process_instance_commands.CreateProcessInstance(
            tenant_id="default", process_definition_id="shown"
        )
        entries = await asked(harness, creation)
        key = user_task_key(harness)
        held = user_task_commands.AssignUserTask(
            tenant_id="default", user_task_key=key, assignee="eve", allow_override=False
        )
        (instance,) = harness.state.instances.values()
        moved = migration_commands.MigrateProcessInstance(
            tenant_id="default",
            process_instance_key=instance.head.key,
            target_process_definition_key=instance.head.process_definition_key,
            mapping_instructions=(migration_commands.MappingInstruction("check", "check"),),
        )
        for command in (
            held,
            user_task_commands.UnassignUserTask("default", key),
            user_task_commands.UpdateUserTask(tenant_id="default", user_task_key=key, priority=1),
            moved,
        ):
            entries += await asked(harness, command)
        harness.store.batches.clear()
        await complete(harness, key, UserTaskResult(is_denied=True))
        await complete(harness, key, None)
        entries += noted(harness)
        await harness.partition.submit(creation, ORIGIN)
        (instance,) = harness.state.instances.values()
        entries += await asked(
            harness, process_instance_commands.CancelProcessInstance("default", instance.head.key)
        )

    assert [(entry.operation_type, entry.result) for entry in entries] == [
        ("CREATE", "SUCCESS"),
        ("ASSIGN", "SUCCESS"),
        ("ASSIGN", "FAIL"),
        ("UNASSIGN", "SUCCESS"),
        ("UPDATE", "SUCCESS"),
        ("MIGRATE", "SUCCESS"),
        ("COMPLETE", "FAIL"),
        ("COMPLETE", "SUCCESS"),
        ("CANCEL", "SUCCESS"),
    ]
    assert {entry.form_key for entry in entries} == {form_key}


async def complete(harness: Harness, key: Key, result: UserTaskResult | None) -> None:
    """Complete the user task, and the job of its listener with this result."""
    completion = asyncio.ensure_future(
        harness.partition.submit(user_task_commands.CompleteUserTask("default", key), ORIGIN)
    )
    await harness.partition.settle()
    (job_key,) = [key for instance in harness.state.instances.values() for key in instance.jobs]
    activation = job_commands.ActivateJobs(
        tenant_id="default", type="listen", worker="w", timeout=timedelta(minutes=1), max_jobs=1
    )
    await harness.partition.submit(activation, ORIGIN)
    await harness.partition.submit(job_commands.CompleteJob("default", job_key, {}, result), ORIGIN)
    await asyncio.wait((completion,))
