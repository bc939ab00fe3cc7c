"""Global task listeners: asked about every native user task of their tenant."""

from typing import Any

import pytest

from server.bpmn.builder import ProcessBuilder, process
from server.engine import events, job_commands, process_instance_commands, user_task_commands
from server.engine.answers import DONE, TransitionBegun
from server.engine.commands import Command
from server.engine.global_task_listener_commands import (
    AdoptGlobalTaskListener,
    AdoptGlobalTaskListenerDeletion,
    CreateGlobalTaskListener,
    DeleteGlobalTaskListener,
    UpdateGlobalTaskListener,
)
from server.engine.global_task_listener_events import GlobalTaskListenerSet
from server.engine.handlers import HANDLERS
from server.engine.incidents import ErrorType
from server.engine.job_kinds import JobKind, ListenerEventType
from server.engine.job_results import UserTaskResult
from server.engine.keys import Key
from server.engine.limits import EngineLimits
from server.engine.process_instance import Job
from server.engine.rejection import RejectionType
from server.engine.sent import EVERY_OTHER, CommandSent
from server.engine.step import Step
from server.engine.user_task_changes import Corrections
from server.store import entities
from tests.durable import EPOCH
from tests.server.engine.scenario import Scenario

State = entities.UserTaskState


def listen(engine: Scenario, job_type: str, *event_types: str, **more: Any) -> None:
    """Create a listener; its id is the type of its jobs unless given."""
    command = CreateGlobalTaskListener(
        engine.tenant_id, more.pop("id", job_type), job_type, event_types or ("all",), **more
    )
    engine.execute(command)


def approval(*listeners: tuple[str, str], **task: Any) -> ProcessBuilder:
    """A user task, with these listeners in its model."""
    builder = process("order").user_task("approve", headers={"team": "blue"}, **task)
    for event_type, job_type in listeners:
        builder.task_listener(event_type, type=job_type)
    return builder.end("done")


def complete(engine: Scenario, **variables: str) -> Any:
    return engine.execute(
        user_task_commands.CompleteUserTask("default", engine.user_task("approve").key, variables)
    )


def open_jobs(engine: Scenario) -> list[Job]:
    return list(engine.instance.jobs.values()) if engine.is_running else []


def asked(engine: Scenario) -> list[str]:
    """The types of the listeners that are asked from now on, each of which agrees."""
    types = []
    while jobs := open_jobs(engine):
        (job,) = jobs
        types.append(job.type)
        engine.execute(job_commands.CompleteJob("default", job.key))
    return types


def row(engine: Scenario) -> entities.UserTask:
    (found,) = engine.rows.all(entities.UserTask)
    return found


def test_they_are_asked_before_or_after_the_listeners_of_the_model(engine: Scenario) -> None:
    listen(engine, "last", "completing", after_non_global=True)
    listen(engine, "first", "completing")
    engine.deploy(approval(("completing", "own"), ("completing", "other"))).start()

    assert isinstance(complete(engine), TransitionBegun)

    assert row(engine).state is State.COMPLETING
    assert asked(engine) == ["first", "own", "other", "last"]
    assert engine.is_completed


def test_those_of_a_higher_priority_are_asked_first_and_equal_ones_by_their_ids(engine: Scenario) -> None:
    for after in (False, True):
        for name, priority in (("low", 1), ("b", 50), ("high", 70), ("a", 50)):
            listen(engine, f"{name} {after}", priority=priority, after_non_global=after)
    engine.deploy(approval()).start()

    assert asked(engine) == [
        f"{name} {after}" for after in (False, True) for name in ("high", "a", "b", "low")
    ]


@pytest.mark.parametrize(
    ("event_types", "expected"),
    [
        (("all",), ["CREATING", "ASSIGNING", "UPDATING", "COMPLETING"]),
        (("updating", "creating"), ["CREATING", "UPDATING"]),
        (("canceling",), []),
        (("all", "creating"), ["CREATING", "ASSIGNING", "UPDATING", "COMPLETING"]),
    ],
)
def test_they_are_asked_about_their_events(
    engine: Scenario, event_types: tuple[str, ...], expected: list[str]
) -> None:
    listen(engine, "ask", *event_types)
    engine.deploy(approval(assignment={"assignee": "ann"})).start()
    asked(engine)
    key = engine.user_task("approve").key
    engine.execute(user_task_commands.UpdateUserTask(tenant_id="default", user_task_key=key, priority=80))
    asked(engine)
    complete(engine)
    asked(engine)

    created = engine.happened(events.JobCreated)

    assert [job.listener_event_type for job in created] == expected
    assert engine.is_completed


def test_a_job_has_the_retries_of_the_listener_and_the_headers_of_the_task(engine: Scenario) -> None:
    listen(engine, "ask", "completing", retries=7)
    engine.deploy(approval(priority="7")).start()

    complete(engine, approved="true")

    (job,) = engine.activate("ask")
    assert (job.kind, job.listener_event_type) == (JobKind.TASK_LISTENER, ListenerEventType.COMPLETING)
    assert (job.retries, job.headers) == (7, {"team": "blue"})
    assert job.variables["approved"] == "true"
    assert job.user_task is not None
    assert job.user_task.values.priority == 7


def test_its_denial_and_corrections_count_as_those_of_the_model(engine: Scenario) -> None:
    listen(engine, "first", "assigning")
    listen(engine, "last", "assigning", after_non_global=True)
    engine.deploy(approval(("assigning", "own"))).start()

    def assign(*results: UserTaskResult) -> None:
        key = engine.user_task("approve").key
        engine.execute(
            user_task_commands.AssignUserTask(tenant_id="default", user_task_key=key, assignee="ann")
        )
        for result in results:
            (job,) = open_jobs(engine)
            engine.execute(job_commands.CompleteJob("default", job.key, result=result))

    agreed, corrected = UserTaskResult(), UserTaskResult(corrections=Corrections(assignee="bob"))
    assign(corrected, agreed, UserTaskResult(is_denied=True))
    assert (row(engine).state, row(engine).assignee) == (State.CREATED, None)

    assign(corrected, agreed, agreed)

    assert (row(engine).state, row(engine).assignee) == (State.CREATED, "bob")


def test_one_without_retries_is_an_incident_and_is_asked_alone_again(engine: Scenario) -> None:
    listen(engine, "first", "completing")
    listen(engine, "second", "completing", priority=1)
    engine.deploy(approval(("completing", "own"))).start()
    complete(engine)
    engine.complete("first")

    engine.fail("second", message="no network")

    assert engine.incident.error_type is ErrorType.TASK_LISTENER_NO_RETRIES
    engine.execute(job_commands.UpdateJob(tenant_id="default", job_key=engine.job("second").key, retries=1))
    engine.resolve()
    assert asked(engine) == ["second", "own"]
    assert engine.is_completed


def test_an_expression_of_the_model_that_fails_asks_the_global_ones_again(engine: Scenario) -> None:
    listen(engine, "first", "completing")
    engine.deploy(approval(("completing", "=kind"))).start()
    complete(engine)
    engine.complete("first")
    key = engine.instance_key
    engine.execute(
        process_instance_commands.SetVariables(
            tenant_id="default", process_instance_key=key, element_instance_key=key,
            variables={"kind": '"own"'},
        )
    )  # fmt: skip

    engine.resolve()

    assert asked(engine) == ["first", "own"]
    assert engine.is_completed


def test_canceling_asks_them_before_the_instance_ends(engine: Scenario) -> None:
    listen(engine, "ask", "canceling")
    listen(engine, "fail", "assigning")
    engine.deploy(approval(assignment={"assignee": "ann"})).start()
    engine.fail("fail")

    engine.cancel()

    assert (row(engine).state, engine.instance.incidents) == (State.CANCELING, {})
    assert asked(engine) == ["ask"]
    assert engine.is_terminated


class TestChangesWhileListenersAreAsked:
    """A transition asks those that there were when it began."""

    def test_one_that_is_new_is_not_asked(self, engine: Scenario) -> None:
        listen(engine, "ask", "completing")
        engine.deploy(approval(("completing", "own"))).start()
        complete(engine)

        listen(engine, "earlier", "completing", priority=90)
        listen(engine, "later", "completing", after_non_global=True)

        assert asked(engine) == ["ask", "own"]

    def test_one_that_is_changed_is_asked_as_it_was(self, engine: Scenario) -> None:
        listen(engine, "first", "completing", id="a")
        listen(engine, "second", "completing", id="b")
        engine.deploy(approval(("completing", "own"))).start()
        complete(engine)

        engine.execute(
            UpdateGlobalTaskListener("default", "b", "new", ("creating",), 1, after_non_global=True)
        )

        assert asked(engine) == ["first", "second", "own"]

    def test_one_that_is_deleted_is_asked_nevertheless(self, engine: Scenario) -> None:
        listen(engine, "first", "completing")
        listen(engine, "second", "completing", after_non_global=True)
        engine.deploy(approval()).start()
        complete(engine)

        for name in ("first", "second"):
            engine.execute(DeleteGlobalTaskListener("default", name))

        assert asked(engine) == ["first", "second"]
        assert engine.is_completed

    def test_the_next_transition_asks_the_new_ones(self, engine: Scenario) -> None:
        listen(engine, "ask", id="a")
        engine.deploy(approval(assignment={"assignee": "ann"})).start()
        engine.execute(UpdateGlobalTaskListener("default", "a", "new", ("all",)))

        assert asked(engine) == ["ask", "new"]


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        pytest.param(
            ["x", "y"], ["a", "b"], ["x", "b", "last 1", "last 2"], id="while the model's are asked"
        ),
        pytest.param(["x"], ["a", "b"], ["x", "b", "last 1", "last 2"], id="to a model with more"),
        pytest.param(["x", "y"], ["a"], ["x", "last 1", "last 2"], id="to a model with fewer"),
    ],
)
def test_a_migrated_task_skips_and_repeats_none(
    engine: Scenario, source: list[str], target: list[str], expected: list[str]
) -> None:
    listen(engine, "first", "completing")
    for number in (1, 2):
        listen(engine, f"last {number}", "completing", after_non_global=True)
    engine.deploy(approval(*(("completing", each) for each in source))).start()
    builder = process("other").user_task("confirm")
    for each in target:
        builder.task_listener("completing", type=each)
    engine.deploy(builder.end())
    complete(engine)
    engine.complete("first")

    engine.migrate("other", {"approve": "confirm"})

    assert asked(engine) == expected


def test_a_migration_behind_the_models_listeners_skips_and_repeats_none(engine: Scenario) -> None:
    for number in (1, 2, 3):
        listen(engine, f"last {number}", "completing", after_non_global=True)
    engine.deploy(approval(("completing", "x"), ("completing", "y"))).start()
    engine.deploy(process("other").user_task("confirm").task_listener("completing", type="a").end())
    complete(engine)
    for job_type in ("x", "y", "last 1"):
        engine.complete(job_type)

    engine.migrate("other", {"approve": "confirm"})

    assert asked(engine) == ["last 2", "last 3"]


def test_without_any_for_an_event_there_is_no_transition(engine: Scenario) -> None:
    listen(engine, "ask", "updating")
    engine.execute(CreateGlobalTaskListener("other", "theirs", "theirs", ("all",)))
    engine.deploy(approval()).start()

    assert complete(engine) == DONE

    assert engine.happened(events.UserTaskTransitionBegan) == []
    assert engine.is_completed


def test_a_user_task_that_a_job_worker_does_asks_none(engine: Scenario) -> None:
    listen(engine, "ask")

    engine.deploy(process("order").user_task("approve", is_native=False).end()).start()

    (job,) = open_jobs(engine)
    assert job.kind is JobKind.BPMN_ELEMENT


def test_an_id_is_there_once_in_a_tenant(engine: Scenario) -> None:
    listen(engine, "ask", id="a")
    engine.execute(CreateGlobalTaskListener("other", "a", "theirs", ("all",)))

    refused = engine.refusal(CreateGlobalTaskListener("default", "a", "more", ("all",)))

    assert refused.type is RejectionType.ALREADY_EXISTS


def test_one_of_another_tenant_cannot_be_changed(engine: Scenario) -> None:
    engine.execute(CreateGlobalTaskListener("other", "a", "theirs", ("all",)))
    changes: list[Command] = [
        UpdateGlobalTaskListener("default", "a", "mine", ("all",)),
        DeleteGlobalTaskListener("default", "a"),
    ]

    assert {engine.refusal(each).type for each in changes} == {RejectionType.NOT_FOUND}


def test_a_tenant_has_a_bounded_number() -> None:
    engine = Scenario(limits=EngineLimits(global_task_listeners=2))
    listen(engine, "a")
    listen(engine, "b")
    engine.execute(CreateGlobalTaskListener("other", "c", "theirs", ("all",)))

    refused = engine.refusal(CreateGlobalTaskListener("default", "c", "c", ("all",)))

    assert refused.type is RejectionType.INVALID_STATE
    engine.execute(UpdateGlobalTaskListener("default", "b", "new", ("all",)))
    engine.execute(DeleteGlobalTaskListener("default", "a"))
    listen(engine, "c")


def test_rows_show_them_as_they_are(engine: Scenario) -> None:
    listen(engine, "ask", "creating", id="a", retries=2, priority=7)
    listen(engine, "gone")

    engine.execute(UpdateGlobalTaskListener("default", "a", "new", ("all",), 1, after_non_global=True))
    engine.execute(DeleteGlobalTaskListener("default", "gone"))

    (shown,) = engine.rows.all(entities.GlobalTaskListener)
    assert (shown.tenant_id, shown.id, shown.type, shown.event_types) == ("default", "a", "new", ("all",))
    assert (shown.retries, shown.after_non_global, shown.priority) == (1, True, 50)
    assert shown.source is entities.GlobalListenerSource.API


def sent(engine: Scenario) -> list[Command]:
    """What the last command told all other partitions."""
    found = [event for event in engine.last_events if isinstance(event, CommandSent)]
    assert all(each.partition_id == EVERY_OTHER for each in found)
    return [each.command for each in found]


class TestOtherPartitions:
    """They hear of every change, and may hear of it late or twice."""

    def test_ask_those_that_they_know_of(self, engine: Scenario) -> None:
        other = Scenario()
        for command in (
            CreateGlobalTaskListener("default", "a", "ask", ("creating",)),
            CreateGlobalTaskListener("default", "b", "gone", ("creating",)),
            UpdateGlobalTaskListener("default", "a", "new", ("creating",)),
            DeleteGlobalTaskListener("default", "b"),
        ):
            engine.execute(command)
            for each in sent(engine):
                other.execute(each)

        other.deploy(approval()).start()

        assert other.state.global_task_listeners == engine.state.global_task_listeners
        assert asked(other) == ["new"]

    def test_keep_the_later_value_and_the_later_listener(self, engine: Scenario) -> None:
        def listener(key: int, revision: int) -> GlobalTaskListenerSet:
            return GlobalTaskListenerSet(
                Key(key), "default", "a", f"{key} {revision}", ("all",), 3, False, 50, revision  # a field
            )  # fmt: skip

        first, second, again = listener(5, 1), listener(5, 2), listener(9, 1)
        for late in (second, first, again, first):
            engine.execute(AdoptGlobalTaskListener("default", late))

        engine.execute(AdoptGlobalTaskListenerDeletion("default", second))

        assert engine.state.global_task_listeners.get("default", "a") == again
        engine.execute(AdoptGlobalTaskListenerDeletion("default", again))
        engine.execute(AdoptGlobalTaskListenerDeletion("default", again))
        assert engine.state.global_task_listeners.get("default", "a") is None


def test_a_change_that_is_taken_back_leaves_no_trace(engine: Scenario) -> None:
    listen(engine, "a")
    state, known = engine.state, engine.state.global_task_listeners
    before = known.asked("default", ListenerEventType.CREATING)

    state.begin()
    for command in (
        CreateGlobalTaskListener("default", "b", "b", ("all",)),
        CreateGlobalTaskListener("other", "b", "b", ("all",)),
        UpdateGlobalTaskListener("default", "a", "c", ("all",)),
        DeleteGlobalTaskListener("default", "a"),
    ):
        HANDLERS[type(command)](command, Step(state, EPOCH))
    assert known.asked("default", ListenerEventType.CREATING) != before
    state.journal.roll_back()

    assert known.asked("default", ListenerEventType.CREATING) == before
    assert known.count("other") == 0


def test_transitions_of_many_tasks_share_what_they_ask(engine: Scenario) -> None:
    for number in range(100):
        listen(engine, f"ask {number}", "creating")

    engine.deploy(approval()).start().start()

    first, second = (
        user_task.begun.global_listeners
        for instance in engine.state.instances.values()
        for user_task in instance.user_tasks.values()
    )
    assert len(first) == 100
    assert first is second
