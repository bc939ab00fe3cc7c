import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.engine import (
    batch_commands,
    cluster_variable_commands,
    commands,
    decision_commands,
    deployment_commands,
    global_task_listener_commands,
    job_commands,
    message_commands,
    migration_commands,
    modification_commands,
    process_instance_commands,
    signal_commands,
    tenant_commands,
    timer_commands,
    user_task_commands,
)
from server.engine.answers import DONE, MAX_ANSWER_OCTETS, ActivatedJob, ActivatedJobs
from server.engine.events import InstanceHead
from server.engine.formats import ClusterFormat
from server.engine.keys import COUNTER_BITS, Key
from server.engine.messages import home_of
from server.partition.idempotency import IdempotencyKey
from server.partition.origin import Origin
from server.partition.router import Router
from server.platform.errors import DeadlineExceeded, InvalidState, NotFound, ResourceExhausted, Unavailable
from tests.durable import EPOCH
from tests.server.partition.fakes import FakePartitions
from tests.server.partition.harness import activation, creation
from tests.waits import until

ORIGIN = Origin("default", "worker", "r-1")
DEPLOYMENT = deployment_commands.DeployResources("default", ())
UNTOUCHED = Unavailable.untouched("partition 1 is not serving")


def keyed(key: str) -> Origin:
    return Origin("default", "worker", "r-1", IdempotencyKey("default", key, b""))


def key_of(partition_id: int) -> Key:
    return Key((partition_id << COUNTER_BITS) + 7)


def with_business_id(business_id: str) -> commands.Command:
    return process_instance_commands.CreateProcessInstance(
        tenant_id="default", process_definition_id="order", business_id=business_id
    )


def job(partition_id: int) -> ActivatedJob:
    head = InstanceHead(
        key=key_of(partition_id),
        tenant_id="default",
        process_definition_key=key_of(1),
        process_definition_id="order",
        version=1,
        process_name=None,
        version_tag=None,
    )
    return ActivatedJob(
        key=key_of(partition_id),
        instance=head,
        type="a",
        element_id="a",
        element_instance_key=key_of(partition_id),
        headers={},
        worker="w",
        retries=3,
        deadline=EPOCH,
        variables={"x": '"x"'},
    )


def where(partitions: FakePartitions) -> list[int]:
    """How many commands each partition carried out."""
    return [len(partition.commands) for partition in partitions.all.values()]


BY_KEY = [
    process_instance_commands.CancelProcessInstance("default", key_of(2)),
    process_instance_commands.DeleteProcessInstance("default", key_of(2), is_stored=True),
    decision_commands.DeleteDecisionInstance("default", key_of(2), last_place=1),
    migration_commands.MigrateProcessInstance(
        tenant_id="default",
        process_instance_key=key_of(2),
        target_process_definition_key=key_of(1),
        mapping_instructions=(),
    ),
    modification_commands.ModifyProcessInstance(tenant_id="default", process_instance_key=key_of(2)),
    timer_commands.FireTimer("default", key_of(2), key_of(2)),
    job_commands.CompleteJob("default", key_of(2)),
    job_commands.FailJob(tenant_id="default", job_key=key_of(2)),
    job_commands.ThrowJobError(tenant_id="default", job_key=key_of(2), error_code="x"),
    job_commands.UpdateJob(tenant_id="default", job_key=key_of(2), timeout=timedelta(1)),
    process_instance_commands.ResolveIncident("default", key_of(2)),
    batch_commands.AddBatchItems("default", key_of(2), ()),
    batch_commands.StartBatchOperation("default", key_of(2)),
    batch_commands.SuspendBatchOperation("default", key_of(2)),
    batch_commands.ResumeBatchOperation("default", key_of(2)),
    batch_commands.CancelBatchOperation("default", key_of(2)),
    user_task_commands.AssignUserTask(tenant_id="default", user_task_key=key_of(2), assignee="ann"),
    user_task_commands.UnassignUserTask("default", key_of(2)),
    user_task_commands.UpdateUserTask(tenant_id="default", user_task_key=key_of(2), priority=1),
    user_task_commands.CompleteUserTask("default", key_of(2)),
    process_instance_commands.SetVariables(
        tenant_id="default", process_instance_key=key_of(2), element_instance_key=key_of(1), variables={}
    ),
    process_instance_commands.ActivateAdHocSubProcessActivities(
        tenant_id="default",
        process_instance_key=key_of(2),
        ad_hoc_sub_process_instance_key=key_of(1),
        elements=(),
    ),
]


@pytest.mark.parametrize("command", BY_KEY, ids=lambda command: type(command).__name__)
async def test_a_key_names_its_partition(command: commands.Command) -> None:
    partitions = FakePartitions(3)

    await Router(partitions).submit(command, ORIGIN)

    assert where(partitions) == [0, 1, 0]


def test_every_command_that_names_something_goes_to_its_partition() -> None:
    """The others are for everybody, for any partition, or brought by a partition to itself."""
    others = {
        deployment_commands.DeployResources,
        process_instance_commands.CreateProcessInstance,
        decision_commands.EvaluateDecision,
        job_commands.ActivateJobs,
        deployment_commands.AdoptDefinition,
        deployment_commands.AdoptDeletion,
        timer_commands.SetStartTimers,
        tenant_commands.MarkTenant,
        tenant_commands.PurgeTenant,
        tenant_commands.ReleaseTenant,
        cluster_variable_commands.CreateClusterVariable,
        cluster_variable_commands.UpdateClusterVariable,
        cluster_variable_commands.DeleteClusterVariable,
        cluster_variable_commands.AdoptClusterVariable,
        cluster_variable_commands.AdoptClusterVariableDeletion,
        global_task_listener_commands.CreateGlobalTaskListener,
        global_task_listener_commands.UpdateGlobalTaskListener,
        global_task_listener_commands.DeleteGlobalTaskListener,
        global_task_listener_commands.AdoptGlobalTaskListener,
        global_task_listener_commands.AdoptGlobalTaskListenerDeletion,
        deployment_commands.DeleteResource,
        job_commands.YieldJobs,
        job_commands.TimeOutJob,
        job_commands.EndJobBackOff,
        timer_commands.TriggerTimer,
        process_instance_commands.ContinueProcessInstance,
        message_commands.PublishMessage,
        message_commands.CorrelateMessage,
        message_commands.ContinueMessage,
        message_commands.ExpireMessage,
        message_commands.OpenMessageSubscription,
        message_commands.ConfirmMessageSubscription,
        message_commands.CloseMessageSubscription,
        message_commands.DeliverMessage,
        message_commands.SettleMessage,
        message_commands.BeginNext,
        timer_commands.TriggerStartTimer,
        signal_commands.BroadcastSignal,
        signal_commands.EvaluateConditionals,
        signal_commands.ReceiveSignal,
        signal_commands.ContinueBroadcast,
        batch_commands.CreateBatchOperation,
        batch_commands.ContinueBatchOperation,
        batch_commands.ProcessBatchItems,
        batch_commands.SettleBatchItems,
    }

    assert set(get_args(commands.Command)) - others == {type(command) for command in BY_KEY}


async def test_messages_with_one_correlation_key_go_to_its_home_whatever_their_name() -> None:
    """Homes are the first partitions: those that were added later have none."""
    partitions = FakePartitions(5)
    partitions.message_homes = 3
    keys = [str(number) for number in range(30)]

    for key in keys:
        for name in ("paid", "sold"):
            publication = message_commands.PublishMessage(tenant_id="default", name=name, correlation_key=key)
            await Router(partitions).submit(publication, ORIGIN)

    homes = {key: home_of("default", key, 3) for key in keys}
    assert where(partitions) == [2 * list(homes.values()).count(number) for number in range(1, 6)]
    assert set(homes.values()) == {1, 2, 3}
    assert homes != {key: home_of("other", key, 3) for key in keys}


@pytest.mark.parametrize("key", [Key(42), key_of(9), Key(-1)])
async def test_a_key_that_no_partition_made_is_the_first_ones_to_refuse(key: Key) -> None:
    partitions = FakePartitions(3)

    await Router(partitions).submit(job_commands.CompleteJob("default", key), ORIGIN)

    assert where(partitions) == [1, 0, 0]


async def test_new_process_instances_go_round() -> None:
    partitions = FakePartitions(3)
    router = Router(partitions)

    for _ in range(6):
        await router.submit(creation(), ORIGIN)

    assert where(partitions) == [2, 2, 2]


async def test_new_process_instances_pass_a_partition_that_is_away() -> None:
    partitions = FakePartitions(3)
    partitions.away = {2}
    router = Router(partitions)

    for _ in range(6):
        await router.submit(creation(), ORIGIN)

    assert where(partitions)[1] == 0
    assert sum(where(partitions)) == 6


@given(st.text())
def test_one_business_id_always_goes_to_one_partition(business_id: str) -> None:
    partitions = FakePartitions(3)

    for _ in range(3):
        asyncio.run(Router(partitions).submit(with_business_id(business_id), ORIGIN))

    assert sorted(where(partitions)) == [0, 0, 3]


@given(st.text())
def test_the_repeats_of_a_start_go_to_where_the_first_one_went(key: str) -> None:
    partitions = FakePartitions(3)

    for _ in range(3):
        asyncio.run(Router(partitions).submit(creation(), keyed(key)))

    assert sorted(where(partitions)) == [0, 0, 3]


async def test_keys_and_business_ids_are_spread() -> None:
    partitions = FakePartitions(3)
    router = Router(partitions)

    for number in range(60):
        await router.submit(creation(), keyed(f"k-{number}"))
        await router.submit(with_business_id(f"b-{number}"), ORIGIN)

    assert min(where(partitions)) > 20


@pytest.mark.parametrize(
    "command",
    [
        DEPLOYMENT,
        deployment_commands.DeleteResource("default", key_of(1)),
        cluster_variable_commands.DeleteClusterVariable("default", "rate", is_global=False),
        global_task_listener_commands.DeleteGlobalTaskListener("default", "watch"),
    ],
    ids=lambda command: type(command).__name__,
)
async def test_a_change_for_all_is_the_first_partitions_and_all_others_learn_of_it(
    command: commands.Command,
) -> None:
    partitions = FakePartitions(3)

    await Router(partitions).submit(command, ORIGIN)

    assert where(partitions) == [1, 0, 0]
    assert [partition.catching_up for partition in partitions.all.values()] == [0, 1, 1]


async def test_a_deployment_waits_for_a_partition_that_is_between_two_owners() -> None:
    partitions = FakePartitions(2)
    partitions[2].outcomes.append(UNTOUCHED)

    await Router(partitions).submit(DEPLOYMENT, ORIGIN)

    assert partitions[2].catching_up == 1


@pytest.mark.parametrize("failure", [ResourceExhausted("too many calls"), ValueError("a fault of ours")])
async def test_a_partition_that_cannot_catch_up_at_once_is_asked_again(failure: Exception) -> None:
    partitions = FakePartitions(2)
    partitions[2].outcomes.append(failure)

    await Router(partitions).submit(DEPLOYMENT, ORIGIN)

    assert partitions[2].catching_up == 1


async def test_a_committed_deployment_is_answered_without_a_partition_that_stays_away(
    caplog: pytest.LogCaptureFixture,
) -> None:
    partitions = FakePartitions(3)
    partitions[3].catching = asyncio.Event()

    answer = await Router(partitions, spread_seconds=0.01).submit(DEPLOYMENT, ORIGIN)

    assert answer == DONE
    assert partitions[2].catching_up == 1
    [record] = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert record.__dict__["partition_ids"] == [3]


async def test_a_refused_deployment_is_told_to_nobody() -> None:
    partitions = FakePartitions(2)
    partitions[1].outcomes.append(InvalidState("no"))

    with pytest.raises(InvalidState):
        await Router(partitions).submit(DEPLOYMENT, ORIGIN)

    assert partitions[2].catching_up == 0


async def test_what_a_partition_refused_untouched_is_tried_again() -> None:
    partitions = FakePartitions(1)
    partitions[1].outcomes += [UNTOUCHED, UNTOUCHED]

    await Router(partitions).submit(creation(), ORIGIN)

    assert where(partitions) == [1]


@pytest.mark.parametrize(
    "refusal", [Unavailable("whether the command counts is not known"), NotFound("no"), InvalidState("no")]
)
async def test_what_may_have_happened_or_was_refused_is_not_tried_again(refusal: Exception) -> None:
    partitions = FakePartitions(1)
    partitions[1].outcomes.append(refusal)

    with pytest.raises(type(refusal)):
        await Router(partitions).submit(creation(), ORIGIN)

    assert where(partitions) == [0]


async def test_a_partition_that_stays_away_is_unavailable_in_the_end() -> None:
    partitions = FakePartitions(2)
    partitions.away = {2}

    with pytest.raises(Unavailable, match="partition 2 has no owner at the moment"):
        await Router(partitions).submit(job_commands.CompleteJob("default", key_of(2)), ORIGIN)


async def test_a_completion_is_awaited_where_the_process_instance_is() -> None:
    partitions = FakePartitions(3)

    await Router(partitions).await_completion(key_of(3), "default", 1)

    assert [len(partition.awaited) for partition in partitions.all.values()] == [0, 0, 1]


# Jobs


async def activated(router: Router, seconds: float = 0, most: int = 1) -> Sequence[Key]:
    return [found.key for found in (await router.activate(activation(most), seconds)).jobs]


def offered(count: int) -> FakePartitions:
    """So many partitions with a job each."""
    partitions = FakePartitions(count)
    for number, partition in partitions.all.items():
        partition.jobs = ActivatedJobs((job(number),))
    return partitions


async def test_jobs_come_from_all_partitions_that_have_some() -> None:
    partitions = FakePartitions(4)
    for number in (2, 4):
        partitions[number].jobs = ActivatedJobs((job(number),))
    router = Router(partitions)

    assert await activated(router, most=50) == [key_of(2), key_of(4)]
    assert await activated(router, most=50) == []


async def test_each_partition_is_asked_for_what_there_is_still_room_for() -> None:
    partitions = offered(3)

    assert await activated(Router(partitions), most=2) == [key_of(1), key_of(2)]

    asked = [command for partition in partitions.all.values() for command in partition.commands]
    room = MAX_ANSWER_OCTETS - len('"x"')
    assert asked == [activation(2), replace(activation(1), max_octets=room)]


async def test_an_answer_that_is_full_asks_no_other_partition() -> None:
    partitions = FakePartitions(2)
    partitions[1].jobs = ActivatedJobs(
        (msgspec.structs.replace(job(1), variables={"x": "1" * MAX_ANSWER_OCTETS}),)
    )

    assert await activated(Router(partitions), most=2) == [key_of(1)]
    assert where(partitions) == [1, 0]


@pytest.mark.parametrize(
    "refusal", [Unavailable("lost"), ResourceExhausted("full"), DeadlineExceeded("late")]
)
async def test_jobs_in_hand_are_the_answer_when_another_partition_refuses(refusal: Exception) -> None:
    partitions = offered(3)
    partitions[2].outcomes.append(refusal)
    expected = [1, 3] if isinstance(refusal, Unavailable) else [1]

    assert await activated(Router(partitions), most=3) == [*map(key_of, expected)]


async def test_jobs_in_hand_are_offered_again_everywhere_when_the_caller_goes_away() -> None:
    partitions = offered(3)
    partitions[3].activating = asyncio.Event()
    waiting = asyncio.ensure_future(activated(Router(partitions), most=3))
    await until(lambda: partitions[3].commands)

    waiting.cancel()
    await asyncio.wait((waiting,))

    given_back = [partitions[number].commands[-1] for number in (1, 2)]
    assert given_back == [job_commands.YieldJobs("default", ((key_of(number), EPOCH),)) for number in (1, 2)]
    assert waiting.cancelled()


async def test_no_partition_is_asked_first_always() -> None:
    firsts: set[Key] = set()
    router = Router(partitions := FakePartitions(3))
    for _ in range(3):
        for number, partition in partitions.all.items():
            partition.jobs = ActivatedJobs((job(number),))
        firsts.update(await activated(router))

    assert firsts == {key_of(1), key_of(2), key_of(3)}


async def test_jobs_of_the_others_are_given_while_a_partition_is_away() -> None:
    partitions = FakePartitions(3)
    partitions.away = {1}
    partitions[2].outcomes += [Unavailable("lost")]
    partitions[3].jobs = ActivatedJobs((job(3),))

    assert await activated(Router(partitions)) == [key_of(3)]


async def test_without_any_partition_nothing_can_be_activated() -> None:
    partitions = FakePartitions(2)
    partitions.away = {1, 2}

    with pytest.raises(Unavailable, match="no partition has an owner at the moment"):
        await activated(Router(partitions))


async def _waiting(router: Router, partitions: FakePartitions) -> "asyncio.Task[Sequence[Key]]":
    """An activation that waits at every partition."""
    task = asyncio.ensure_future(activated(router, 60))
    await until(lambda: all(partition.waiting for partition in partitions.all.values()))
    return task


async def test_a_worker_waits_at_all_partitions_at_once() -> None:
    partitions = FakePartitions(3)
    waiting = await _waiting(Router(partitions), partitions)

    partitions[2].jobs = ActivatedJobs((job(2),))
    partitions[2].offered.set()

    assert await waiting == [key_of(2)]
    assert [partition.waiting for partition in partitions.all.values()] == [0, 0, 0]


async def test_a_worker_that_was_woken_in_vain_waits_on() -> None:
    partitions = FakePartitions(2)
    waiting = await _waiting(Router(partitions), partitions)

    partitions[1].offered.set()
    await until(lambda: partitions[1].commands[1:])
    partitions[1].offered.clear()
    partitions[2].jobs = ActivatedJobs((job(2),))
    partitions[2].offered.set()

    assert await waiting == [key_of(2)]


async def test_a_worker_that_waited_in_vain_gets_none() -> None:
    assert await activated(Router(FakePartitions(2)), 0.01) == []


async def test_nobody_waits_when_the_process_is_about_to_stop() -> None:
    partitions = FakePartitions(2)
    router = Router(partitions)
    waiting = await _waiting(router, partitions)

    router.drain()

    async with asyncio.timeout(5):
        assert await waiting == []
        assert await activated(router, 60) == []


async def test_a_worker_that_vanishes_waits_nowhere() -> None:
    partitions = FakePartitions(2)
    waiting = await _waiting(Router(partitions), partitions)

    waiting.cancel()
    await asyncio.wait((waiting,))

    assert [partition.waiting for partition in partitions.all.values()] == [0, 0]


async def test_a_command_that_a_node_cannot_carry_out_yet_is_refused_by_name() -> None:
    partitions = FakePartitions(2)
    partitions.format = ClusterFormat(0, laggard="node-7")

    with pytest.raises(InvalidState, match=r"CompleteJob needs all nodes at format 1.*; node node-7 is at"):
        await Router(partitions).submit(job_commands.CompleteJob("default", key_of(1)), ORIGIN)

    assert partitions[1].commands == []
