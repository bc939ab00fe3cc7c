"""The log has an entry for every command that somebody asked for, also one that was refused."""

from datetime import timedelta
from typing import get_args

import pytest

from server.bpmn.builder import process
from server.engine import (
    batch_commands,
    cluster_variable_commands,
    commands,
    deployment_commands,
    global_task_listener_commands,
    job_commands,
    message_commands,
    process_instance_commands,
    signal_commands,
    tenant_commands,
    timer_commands,
)
from server.engine.answers import DONE, SignalBroadcast
from server.engine.keys import Key
from server.partition.audit import AUDITED, LONGEST_DETAIL, Concerned, audit_entry
from server.partition.origin import Origin
from server.platform.errors import NotFound, ServiceError
from server.store.entities import AuditEntry, AuditResult
from tests.durable import EPOCH
from tests.server.engine.scenario import resource
from tests.server.partition.harness import Harness, Serving, activation, completion, creation

ORIGIN = Origin("default", "worker", "r-1", operation_reference=7)
SUCCESS, FAIL = AuditResult.SUCCESS, AuditResult.FAIL


async def asked(harness: Harness, command: commands.Command) -> list[AuditEntry]:
    """The entries of a command."""
    harness.store.batches.clear()
    try:
        await harness.partition.submit(command, ORIGIN)
    except ServiceError:
        await harness.partition.settle()
    return [entry for batch in harness.store.batches for entry in batch.audit]


async def test_an_entry_says_who_did_what_to_what_and_when(serving: Serving) -> None:
    async with serving() as harness:
        (entry,) = await asked(harness, creation())

        (head,) = [instance.head for instance in harness.state.instances.values()]
        assert entry == AuditEntry(
            tenant_id="default",
            timestamp=EPOCH,
            operation_type="CREATE",
            result=SUCCESS,
            actor_type="CLIENT",
            actor_id="worker",
            entity_type="PROCESS_INSTANCE",
            entity_key=head.key,
            process_definition_key=head.process_definition_key,
            process_instance_key=head.key,
            root_process_instance_key=head.key,
            operation_reference=7,
            request_id="r-1",
        )


async def test_a_deployment_is_audited_by_its_own_key(serving: Serving) -> None:
    async with serving() as harness:
        command = deployment_commands.DeployResources("default", (resource(process("new").end()),))

        (entry,) = await asked(harness, command)

        assert (entry.entity_type, entry.operation_type) == ("RESOURCE", "CREATE")
        assert entry.entity_key is not None
        assert entry.entity_key not in harness.state.definitions


async def test_changes_of_a_cluster_variable_are_audited_by_its_key_and_its_name(serving: Serving) -> None:
    async with serving() as harness:
        create = cluster_variable_commands.CreateClusterVariable("default", "rate", "1", is_global=True)
        (created,) = await asked(harness, create)
        variable = harness.state.cluster_variables.get(None, "rate")
        (refused,) = await asked(harness, create)

        assert variable is not None
        assert (created.entity_type, created.operation_type) == ("VARIABLE", "CREATE")
        assert (created.entity_key, created.entity_id) == (variable.key, "rate")
        assert (refused.result, refused.reason, refused.entity_id) == (FAIL, "ALREADY_EXISTS", "rate")


async def test_changes_of_a_global_task_listener_are_audited_by_its_key_and_its_id(serving: Serving) -> None:
    async with serving() as harness:
        create = global_task_listener_commands.CreateGlobalTaskListener("default", "watch", "see", ("all",))
        (created,) = await asked(harness, create)
        listener = harness.state.global_task_listeners.get("default", "watch")
        (refused,) = await asked(harness, create)

        assert listener is not None
        assert (created.entity_type, created.operation_type) == ("GLOBAL_LISTENER", "CREATE")
        assert (created.entity_key, created.entity_id) == (listener.key, "watch")
        assert (refused.result, refused.reason, refused.entity_id) == (FAIL, "ALREADY_EXISTS", "watch")


async def test_a_refused_command_leaves_an_entry_and_nothing_else(serving: Serving) -> None:
    async with serving() as harness:
        (entry,) = await asked(harness, job_commands.CompleteJob("default", Key(42)))

        (batch,) = harness.store.batches
        assert (entry.result, entry.entity_type, entry.entity_key) == (FAIL, "JOB", 42)
        assert (entry.reason, entry.detail) == ("NOT_FOUND", "no job with key 42")
        assert (batch.changes, batch.documents, batch.answers) == ([], {}, [])


async def test_handing_out_jobs_and_what_time_brings_leave_no_entry(serving: Serving) -> None:
    async with serving() as harness:
        await harness.start()
        handing_out = await asked(harness, activation())
        harness.store.batches.clear()

        await harness.advance(timedelta(hours=1))

        assert handing_out == []
        assert [batch.audit for batch in harness.store.batches] == [[]]


async def test_entries_without_a_command_are_committed_too(serving: Serving) -> None:
    async with serving() as harness:
        found = audit_entry(job_commands.CompleteJob("default", Key(42)), ORIGIN, NotFound("no"), EPOCH)
        assert found is not None

        await harness.partition.note([found])

        (batch,) = harness.store.batches
        assert batch.audit == [found]


async def test_the_log_is_written_with_the_effects(serving: Serving) -> None:
    async with serving() as harness:
        await harness.start()
        (instance,) = harness.state.instances.values()

        (entry,) = await asked(harness, completion(instance))

        (batch,) = harness.store.batches
        assert batch.audit == [entry]
        assert batch.changes


async def test_what_is_done_with_a_job_names_its_process_instance(serving: Serving) -> None:
    async with serving() as harness:
        await harness.start()
        (instance,) = harness.state.instances.values()

        (entry,) = await asked(harness, completion(instance))

        assert entry.process_instance_key == instance.head.key
        assert entry.process_definition_key == instance.head.process_definition_key


def test_every_command_of_a_caller_is_audited() -> None:
    not_asked_for = {
        deployment_commands.AdoptDefinition,
        deployment_commands.AdoptDeletion,
        timer_commands.SetStartTimers,
        tenant_commands.MarkTenant,
        tenant_commands.PurgeTenant,
        tenant_commands.ReleaseTenant,
        cluster_variable_commands.AdoptClusterVariable,
        cluster_variable_commands.AdoptClusterVariableDeletion,
        global_task_listener_commands.AdoptGlobalTaskListener,
        global_task_listener_commands.AdoptGlobalTaskListenerDeletion,
        job_commands.ActivateJobs,
        job_commands.YieldJobs,
        job_commands.TimeOutJob,
        job_commands.EndJobBackOff,
        timer_commands.TriggerTimer,
        process_instance_commands.ContinueProcessInstance,
        message_commands.ContinueMessage,
        message_commands.ExpireMessage,
        message_commands.OpenMessageSubscription,
        message_commands.ConfirmMessageSubscription,
        message_commands.CloseMessageSubscription,
        message_commands.DeliverMessage,
        message_commands.SettleMessage,
        message_commands.BeginNext,
        timer_commands.TriggerStartTimer,
        signal_commands.ReceiveSignal,
        signal_commands.ContinueBroadcast,
        batch_commands.AddBatchItems,
        batch_commands.StartBatchOperation,
        batch_commands.ContinueBatchOperation,
        batch_commands.ProcessBatchItems,
        batch_commands.SettleBatchItems,
    }

    assert set(get_args(commands.Command)) - not_asked_for == AUDITED.keys()


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        pytest.param(
            process_instance_commands.CancelProcessInstance("default", Key(5)),
            (5, 5),
            id="a process instance",
        ),
        pytest.param(job_commands.CompleteJob("default", Key(5)), (5, None), id="a job"),
        pytest.param(
            process_instance_commands.ResolveIncident("default", Key(5)), (5, None), id="an incident"
        ),
        pytest.param(job_commands.CompleteJob("default", Key(0)), (None, None), id="no key"),
    ],
)
def test_the_entity_is_what_the_command_names(
    command: commands.Command, expected: tuple[int | None, int | None]
) -> None:
    entry = audit_entry(command, ORIGIN, DONE, EPOCH)

    assert entry is not None
    assert (entry.entity_key, entry.process_instance_key) == expected


async def test_a_signal_is_an_entity_and_names_no_process_instance_of_those_that_it_triggers(
    serving: Serving,
) -> None:
    async with serving() as harness:
        await harness.start()
        (instance,) = harness.state.instances.values()
        answer = SignalBroadcast(Key(7))

        command = signal_commands.BroadcastSignal("default", "alarm")
        entry = audit_entry(command, ORIGIN, answer, EPOCH, concerned=Concerned(instance.head))

        assert entry is not None
        assert (entry.entity_type, entry.operation_type) == ("SIGNAL", "CREATE")
        assert (entry.entity_key, entry.process_instance_key) == (7, None)


def test_a_long_refusal_is_cut() -> None:
    entry = audit_entry(creation(), ORIGIN, NotFound("x" * 10_000), EPOCH)

    assert entry is not None
    assert entry.detail == "x" * LONGEST_DETAIL
