from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from server.bpmn.builder import ProcessBuilder, process
from server.engine import events, job_commands, process_instance_commands, user_task_commands
from server.engine.answers import DONE, TransitionBegun
from server.engine.incidents import ErrorType
from server.engine.job_kinds import JobKind, ListenerEventType
from server.engine.job_results import UserTaskResult
from server.engine.lifecycle import ElementState
from server.engine.rejection import RejectionType
from server.engine.user_task_changes import Corrections, DateChange
from server.store import entities
from tests.server.engine.scenario import Scenario

NEW_YEAR = datetime(2031, 1, 1, tzinfo=UTC)
State = entities.UserTaskState


def listened(*listeners: tuple[str, str], **task: Any) -> ProcessBuilder:
    """A user task with listeners, each an event and a job type."""
    builder = process("order").user_task("approve", headers={"team": "blue"}, **task)
    for event_type, job_type in listeners:
        builder.task_listener(event_type, type=job_type)
    return builder.end("done")


def answer(engine: Scenario, job_type: str, **corrections: Any) -> None:
    """Let a listener agree, and correct this."""
    result = UserTaskResult(corrections=Corrections(**corrections)) if corrections else None
    (job,) = engine.activate(job_type)
    engine.execute(job_commands.CompleteJob("default", job.key, result=result))


def deny(engine: Scenario, job_type: str, reason: str = "not today") -> None:
    (job,) = engine.activate(job_type)
    result = UserTaskResult(is_denied=True, denied_reason=reason)
    engine.execute(job_commands.CompleteJob("default", job.key, result=result))


def assign(engine: Scenario, assignee: str = "ann", **more: Any) -> Any:
    key = engine.user_task("approve").key
    return engine.execute(
        user_task_commands.AssignUserTask(tenant_id="default", user_task_key=key, assignee=assignee, **more)
    )


def complete(engine: Scenario, **variables: str) -> Any:
    return engine.execute(
        user_task_commands.CompleteUserTask("default", engine.user_task("approve").key, variables)
    )


def row(engine: Scenario) -> entities.UserTask:
    (found,) = engine.rows.all(entities.UserTask)
    return found


def test_listeners_are_asked_one_after_the_other_before_the_task_is_completed(engine: Scenario) -> None:
    engine.deploy(listened(("completing", "first"), ("completing", "=second"))).start(second="other")

    begun = complete(engine, approved="true")

    assert isinstance(begun, TransitionBegun)
    assert (row(engine).state, engine.element("approve").state) == (State.COMPLETING, ElementState.ACTIVATED)
    (job,) = engine.activate("first")
    assert engine.activate("other") == ()
    assert (job.kind, job.listener_event_type) == (JobKind.TASK_LISTENER, ListenerEventType.COMPLETING)
    assert (job.headers, job.variables["approved"]) == ({"team": "blue"}, "true")
    assert engine.variables() == {"second": "other"}

    engine.execute(job_commands.CompleteJob("default", job.key))
    answer(engine, "other")

    assert engine.is_completed
    assert row(engine).state is State.COMPLETED
    assert engine.variables() == {"second": "other", "approved": True}


def test_a_job_shows_the_task_as_it_will_be(engine: Scenario) -> None:
    engine.deploy(
        listened(("assigning", "ask"), assignment={"candidateGroups": "sales"}, priority="7")
    ).start()

    assign(engine, action="claim")

    (job,) = engine.activate("ask")
    asked = job.user_task
    assert asked is not None
    assert (asked.key, asked.action) == (engine.user_task("approve").key, "claim")
    assert (asked.values.assignee, asked.values.candidate_groups, asked.values.priority) == (
        "ann",
        ("sales",),
        7,
    )
    assert asked.changed_attributes == ("assignee",)
    assert row(engine).assignee is None


def test_a_denial_leaves_the_task_as_it_was(engine: Scenario) -> None:
    engine.deploy(listened(("assigning", "first"), ("assigning", "second"))).start()
    assign(engine)
    answer(engine, "first", priority=90, assignee="bob")

    deny(engine, "second")

    (ended,) = engine.happened(events.UserTaskTransitionEnded)
    assert ended.refusal == "a task listener denied it: not today"
    shown = row(engine)
    assert (shown.state, shown.assignee, shown.priority) == (State.CREATED, None, 50)
    job = next(each for each in engine.rows.all(entities.Job) if each.type == "second")
    assert (job.is_denied, job.denied_reason) == (True, "not today")
    assert engine.user_task("approve").transition is None


@pytest.mark.parametrize("event_type", ["updating", "completing"])
def test_a_denied_change_or_completion_can_be_tried_again(engine: Scenario, event_type: str) -> None:
    def act() -> None:
        if event_type == "completing":
            complete(engine)
        else:
            key = engine.user_task("approve").key
            engine.execute(
                user_task_commands.UpdateUserTask(tenant_id="default", user_task_key=key, priority=80)
            )

    engine.deploy(listened((event_type, "ask"))).start()
    act()
    deny(engine, "ask")
    assert row(engine).state is State.CREATED

    act()
    answer(engine, "ask")

    assert engine.is_completed if event_type == "completing" else row(engine).priority == 80


def test_corrections_are_seen_by_the_listeners_behind_and_applied_at_the_end(engine: Scenario) -> None:
    engine.deploy(
        listened(
            ("completing", "first"), ("completing", "second"),
            assignment={"assignee": "ann", "candidateUsers": "ann,bob", "candidateGroups": "sales"},
            schedule={"dueDate": "2030-01-01T00:00:00Z"},
        )
    ).start()  # fmt: skip
    complete(engine)

    answer(
        engine, "first", assignee="", candidate_users=(), due_date=DateChange(None),
        follow_up_date=DateChange(NEW_YEAR), priority=0,
    )  # fmt: skip
    (job,) = engine.activate("second")

    asked = job.user_task
    assert asked is not None
    values = asked.values
    assert (values.assignee, values.candidate_users, values.candidate_groups) == ("", (), ("sales",))
    assert (values.due_date, values.follow_up_date, values.priority) == (None, NEW_YEAR, 0)
    assert asked.changed_attributes == (
        "assignee",
        "candidateUsersList",
        "dueDate",
        "followUpDate",
        "priority",
    )
    assert row(engine).assignee == "ann"

    engine.execute(job_commands.CompleteJob("default", job.key))

    shown = row(engine)
    assert (shown.assignee, shown.candidate_users, shown.candidate_groups) == (None, (), ("sales",))
    assert (shown.due_date, shown.follow_up_date, shown.priority) == (None, NEW_YEAR, 0)
    assert shown.state is State.COMPLETED


def test_a_correction_asks_no_listeners_about_updating(engine: Scenario) -> None:
    engine.deploy(listened(("assigning", "ask"), ("updating", "never"))).start()
    assign(engine)

    answer(engine, "ask", priority=80)

    assert (row(engine).state, row(engine).assignee, row(engine).priority) == (State.CREATED, "ann", 80)
    assert engine.activate("never") == ()


def test_creating_comes_before_assigning_for_the_first_time(engine: Scenario) -> None:
    engine.deploy(
        listened(("assigning", "second"), ("creating", "first"), assignment={"assignee": "ann"})
    ).start()
    assert (row(engine).state, row(engine).assignee) == (State.CREATING, None)

    answer(engine, "first", candidate_groups=("sales",))

    assert (row(engine).state, row(engine).assignee) == (State.ASSIGNING, None)
    answer(engine, "second")
    shown = row(engine)
    assert (shown.state, shown.assignee, shown.candidate_groups) == (State.CREATED, "ann", ("sales",))


def test_creating_assigns_a_task_that_has_no_assignee_in_its_model(engine: Scenario) -> None:
    engine.deploy(listened(("creating", "ask"), ("assigning", "then"))).start()

    answer(engine, "ask", assignee="bob")
    answer(engine, "then")

    assert row(engine).assignee == "bob"


def test_a_denied_first_assignment_leaves_the_task_unassigned(engine: Scenario) -> None:
    engine.deploy(listened(("assigning", "ask"), assignment={"assignee": "ann"})).start()

    deny(engine, "ask")

    assert (row(engine).state, row(engine).assignee) == (State.CREATED, None)


@pytest.mark.parametrize(
    ("event_type", "result"),
    [
        pytest.param("creating", UserTaskResult(is_denied=True), id="creating is not denied"),
        pytest.param(
            "creating", UserTaskResult(corrections=Corrections(assignee="")), id="assignee of the model"
        ),
    ],
)
def test_what_a_creating_listener_may_not_say_is_refused(
    engine: Scenario, event_type: str, result: UserTaskResult
) -> None:
    engine.deploy(listened((event_type, "ask"), assignment={"assignee": "ann"})).start()
    (job,) = engine.activate("ask")

    refusal = engine.refusal(job_commands.CompleteJob("default", job.key, result=result))

    assert refusal.type is RejectionType.INVALID_ARGUMENT


def test_a_denial_has_no_corrections_and_canceling_is_not_denied(engine: Scenario) -> None:
    engine.deploy(listened(("completing", "ask"), ("canceling", "farewell"))).start()
    complete(engine)
    (job,) = engine.activate("ask")
    both = UserTaskResult(is_denied=True, corrections=Corrections(priority=1))
    first = engine.refusal(job_commands.CompleteJob("default", job.key, result=both))

    engine.cancel()
    (job,) = engine.activate("farewell")
    second = engine.refusal(
        job_commands.CompleteJob("default", job.key, result=UserTaskResult(is_denied=True))
    )

    assert (first.type, second.type) == (RejectionType.INVALID_ARGUMENT,) * 2


def test_jobs_of_listeners_bring_no_variables_and_throw_no_errors(engine: Scenario) -> None:
    engine.deploy(listened(("completing", "ask"))).start()
    complete(engine)
    (job,) = engine.activate("ask")

    completed = engine.refusal(job_commands.CompleteJob("default", job.key, {"a": "1"}))
    failed = engine.refusal(job_commands.FailJob(tenant_id="default", job_key=job.key, variables={"a": "1"}))
    thrown = engine.refusal(job_commands.ThrowJobError(tenant_id="default", job_key=job.key, error_code="x"))

    assert (completed.type, failed.type) == (RejectionType.INVALID_ARGUMENT,) * 2
    assert thrown.type is RejectionType.INVALID_STATE


def test_while_listeners_are_asked_the_task_takes_no_other_command(engine: Scenario) -> None:
    engine.deploy(listened(("assigning", "ask"))).start()
    assign(engine)
    key, scope = engine.user_task("approve").key, engine.element("approve").key
    others = (
        user_task_commands.CompleteUserTask("default", key),
        user_task_commands.UnassignUserTask("default", key),
        user_task_commands.UpdateUserTask(tenant_id="default", user_task_key=key, priority=1),
        process_instance_commands.SetVariables(
            tenant_id="default", process_instance_key=engine.instance_key, element_instance_key=scope,
            variables={"a": "1"},
        ),
    )  # fmt: skip

    refusals = [engine.refusal(command) for command in others]

    assert {refusal.reason for refusal in refusals} == {f"user task {key} is ASSIGNING, not CREATED"}
    assert {refusal.type for refusal in refusals} == {RejectionType.INVALID_STATE}


@pytest.mark.parametrize("is_local", [True, False])
def test_variables_at_the_task_are_set_when_updating_listeners_agree(
    engine: Scenario, *, is_local: bool
) -> None:
    engine.deploy(listened(("updating", "ask"))).start()
    scope = engine.element("approve").key
    command = process_instance_commands.SetVariables(
        tenant_id="default", process_instance_key=engine.instance_key, element_instance_key=scope,
        variables={"price": "3"}, is_local=is_local,
    )  # fmt: skip

    engine.execute(command)
    deny(engine, "ask")
    assert engine.happened(events.VariableCreated) == []
    engine.execute(command)
    (job,) = engine.activate("ask")
    assert job.user_task is not None
    assert (job.user_task.changed_attributes, job.variables["price"]) == (("variables",), "3")
    engine.execute(job_commands.CompleteJob("default", job.key))

    assert engine.variables(scope if is_local else None) == {"price": 3}
    assert row(engine).state is State.CREATED


def test_a_task_shows_that_it_is_updated_until_its_listeners_agree(engine: Scenario) -> None:
    engine.deploy(listened(("updating", "ask"))).start()
    key = engine.user_task("approve").key

    engine.execute(user_task_commands.UpdateUserTask(tenant_id="default", user_task_key=key, priority=80))

    assert (row(engine).state, row(engine).priority) == (State.UPDATING, 50)
    answer(engine, "ask")
    assert (row(engine).state, row(engine).priority) == (State.CREATED, 80)


def test_variables_elsewhere_ask_nobody(engine: Scenario) -> None:
    engine.deploy(listened(("updating", "ask"))).start()
    key = engine.instance_key

    done = engine.execute(
        process_instance_commands.SetVariables(
            tenant_id="default", process_instance_key=key, element_instance_key=key, variables={"price": "3"}
        )
    )

    assert done == DONE
    assert engine.variables() == {"price": 3}


def test_a_listener_without_retries_is_an_incident_and_is_asked_alone_again(engine: Scenario) -> None:
    engine.deploy(listened(("completing", "first"), ("completing", "second"))).start()
    complete(engine)
    answer(engine, "first")

    engine.fail("second", message="no network")

    assert engine.incident.error_type is ErrorType.TASK_LISTENER_NO_RETRIES
    assert engine.rows.get(entities.Incident, engine.incident.key).error_type == "UNKNOWN"
    assert (
        engine.refusal(process_instance_commands.ResolveIncident("default", engine.incident.key)).type
        is RejectionType.INVALID_STATE
    )
    engine.execute(job_commands.UpdateJob(tenant_id="default", job_key=engine.job("second").key, retries=1))
    engine.resolve()
    assert engine.activate("first") == ()
    answer(engine, "second")
    assert engine.is_completed


def test_an_expression_that_fails_asks_all_listeners_again(engine: Scenario) -> None:
    engine.deploy(listened(("completing", "first"), ("completing", "=kind"))).start()
    complete(engine, kind='"wrong"')
    answer(engine, "first")
    # What comes with the completion is not set yet.
    assert engine.incident.error_type is ErrorType.EXTRACT_VALUE_ERROR
    key = engine.instance_key
    engine.execute(
        process_instance_commands.SetVariables(
            tenant_id="default",
            process_instance_key=key,
            element_instance_key=key,
            variables={"kind": '"second"'},
        )
    )

    engine.resolve()
    answer(engine, "first")
    answer(engine, "second")

    assert engine.is_completed


def test_listeners_that_are_asked_again_see_what_they_corrected_before(engine: Scenario) -> None:
    engine.deploy(listened(("completing", "first"), ("completing", "=kind"))).start()
    complete(engine)
    answer(engine, "first", priority=80)
    engine.execute(
        process_instance_commands.SetVariables(
            tenant_id="default",
            process_instance_key=engine.instance_key,
            element_instance_key=engine.instance_key,
            variables={"kind": '"second"'},
        )
    )

    (job,) = engine.resolve().activate("first")
    assert job.user_task is not None
    assert (job.user_task.values.priority, job.user_task.changed_attributes) == (80, ("priority",))
    engine.execute(job_commands.CompleteJob("default", job.key))
    answer(engine, "second", priority=50)

    # It has its own priority again.
    assert row(engine).priority == 50
    assert engine.is_completed


def test_a_value_that_stays_the_same_is_no_changed_attribute(engine: Scenario) -> None:
    engine.deploy(
        listened(("updating", "first"), ("updating", "second"), assignment={"candidateUsers": "ann"})
    ).start()
    key = engine.user_task("approve").key
    engine.execute(
        user_task_commands.UpdateUserTask(
            tenant_id="default", user_task_key=key, priority=80, candidate_users=("ann",)
        )
    )

    (job,) = engine.activate("first")
    assert job.user_task is not None
    assert job.user_task.changed_attributes == ("priority",)
    result = UserTaskResult(corrections=Corrections(priority=50, candidate_groups=()))
    engine.execute(job_commands.CompleteJob("default", job.key, result=result))
    (job,) = engine.activate("second")

    assert job.user_task is not None
    assert job.user_task.changed_attributes == ()


@pytest.mark.parametrize("event_type", ["completing", "canceling"])
def test_what_changes_nothing_has_no_changed_attributes(engine: Scenario, event_type: str) -> None:
    engine.deploy(listened((event_type, "ask"), assignment={"assignee": "ann"})).start()
    if event_type == "completing":
        complete(engine)
    else:
        engine.cancel()

    (job,) = engine.activate("ask")

    assert job.user_task is not None
    assert (job.user_task.changed_attributes, job.user_task.values.assignee) == ((), "ann")


def test_canceling_listeners_are_asked_one_after_the_other_and_each_has_its_retries(engine: Scenario) -> None:
    engine.deploy(listened(("canceling", "first"), ("canceling", "second"))).start().cancel()

    answer(engine, "first", priority=80)
    engine.fail("second")
    assert engine.incident.error_type is ErrorType.TASK_LISTENER_NO_RETRIES
    engine.execute(job_commands.UpdateJob(tenant_id="default", job_key=engine.job("second").key, retries=1))
    engine.resolve()

    assert engine.activate("first") == ()
    answer(engine, "second")
    assert engine.is_terminated
    assert (row(engine).state, row(engine).priority) == (State.CANCELED, 80)


def test_an_expression_of_a_creating_listener_that_fails_creates_one_task(engine: Scenario) -> None:
    engine.deploy(listened(("creating", "=kind"))).start()
    key = engine.instance_key
    engine.execute(
        process_instance_commands.SetVariables(
            tenant_id="default",
            process_instance_key=key,
            element_instance_key=key,
            variables={"kind": '"ask"'},
        )
    )

    engine.resolve()
    answer(engine, "ask")

    assert (row(engine).state, len(engine.happened(events.UserTaskCreated))) == (State.CREATED, 1)


def test_canceling_listeners_are_asked_before_the_instance_ends(engine: Scenario) -> None:
    engine.deploy(listened(("assigning", "ask"), ("canceling", "first"), ("canceling", "second"))).start()
    assign(engine)
    engine.fail("ask")

    engine.cancel()

    assert (row(engine).state, engine.element("approve").state) == (State.CANCELING, ElementState.TERMINATING)
    (ended,) = engine.happened(events.UserTaskTransitionEnded)
    assert ended.refusal == f"user task {engine.user_task('approve').key} was canceled"
    assert engine.instance.incidents == {}
    assert engine.activate("ask") == ()
    answer(engine, "first")
    answer(engine, "second")
    assert engine.is_terminated
    assert (row(engine).state, row(engine).assignee) == (State.CANCELED, None)


def test_an_incident_of_a_canceling_listener_is_mended_like_any_other(engine: Scenario) -> None:
    engine.deploy(listened(("canceling", "=kind"))).start().cancel()
    assert engine.incident.error_type is ErrorType.EXTRACT_VALUE_ERROR
    key = engine.instance_key
    refusal = engine.refusal(
        process_instance_commands.SetVariables(
            tenant_id="default", process_instance_key=key, element_instance_key=key, variables={"kind": '"x"'}
        )
    )
    assert refusal.type is RejectionType.NOT_FOUND

    engine.resolve()

    assert engine.instance.user_tasks


def test_an_interrupting_event_goes_on_when_canceling_listeners_are_done(engine: Scenario) -> None:
    builder = process("order").user_task("approve").task_listener("canceling", type="farewell").end("done")
    builder.boundary_signal("stop", on="approve", signal="stop").end("stopped")
    engine.deploy(builder).start()

    engine.broadcast("stop")
    assert engine.path == ["start"]
    answer(engine, "farewell")

    assert engine.path == ["start", "stop", "stopped"]
    assert engine.is_completed


def test_an_interrupting_event_keeps_its_variables_while_canceling_listeners_are_asked(
    engine: Scenario,
) -> None:
    builder = process("order").user_task("approve").task_listener("canceling", type="farewell").end("done")
    builder.boundary_signal("stop", on="approve", signal="stop").end("stopped")
    engine.deploy(builder).start()

    engine.broadcast("stop", reason="late")
    assert engine.variables() == {}
    answer(engine, "farewell")

    assert engine.variables() == {"reason": "late"}
    assert engine.path == ["start", "stop", "stopped"]


def test_a_task_without_listeners_for_an_event_has_no_transition(engine: Scenario) -> None:
    engine.deploy(listened(("updating", "ask"))).start()

    assert assign(engine) == DONE
    assert complete(engine) == DONE
    assert engine.happened(events.UserTaskTransitionBegan) == []


def test_a_migrated_task_goes_on_with_the_listeners_of_the_target(engine: Scenario) -> None:
    engine.deploy(listened(("completing", "first"), ("completing", "second"))).start()
    target = process("other").user_task("confirm").task_listener("completing", type="a")
    engine.deploy(target.task_listener("completing", type="b").end())
    complete(engine)

    engine.migrate("other", {"approve": "confirm"})

    answer(engine, "first")
    answer(engine, "b")
    assert engine.is_completed


def test_the_listeners_of_a_tenant_are_its_own(engine: Scenario) -> None:
    engine.deploy(listened(("completing", "ask"))).start()
    complete(engine)
    job = engine.job("ask")

    refusal = engine.refusal(replace(job_commands.CompleteJob("default", job.key), tenant_id="other"))

    assert refusal.type is RejectionType.NOT_FOUND
