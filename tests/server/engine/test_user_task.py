"""Native user tasks: with `zeebe:userTask`, the engine manages them."""

from datetime import UTC, datetime
from typing import Any

import pytest

from server.bpmn.builder import ProcessBuilder, process, sub_process
from server.engine import commands, events, user_task_commands
from server.engine.events import (
    ElementActivated,
    ElementTerminated,
    SubscriptionClosed,
    UserTaskAssigned,
    UserTaskCanceled,
    UserTaskCreated,
)
from server.engine.incidents import ErrorType
from server.engine.keys import Key
from server.engine.lifecycle import ElementState
from server.engine.rejection import RejectionType
from server.engine.user_task_changes import DateChange
from server.store import entities
from tests.server.engine.scenario import MINUTE, Scenario

NEW_YEAR = datetime(2030, 1, 1, tzinfo=UTC)


def review(**extensions: Any) -> ProcessBuilder:
    return process("order", name="Order").user_task("review", name="Review", **extensions)


def assign(engine: Scenario, assignee: str, *, allow_override: bool = True) -> commands.Command:
    return user_task_commands.AssignUserTask(
        tenant_id="default",
        user_task_key=engine.user_task("review").key,
        assignee=assignee,
        allow_override=allow_override,
    )


def change(engine: Scenario, **values: Any) -> commands.Command:
    return user_task_commands.UpdateUserTask(
        tenant_id="default", user_task_key=engine.user_task("review").key, **values
    )


def row(engine: Scenario) -> entities.UserTask:
    (found,) = engine.rows.all(entities.UserTask)
    return found


# Creation


def test_a_user_task_is_created_and_waits(engine: Scenario) -> None:
    engine.deploy(review().end())

    engine.start()

    task = engine.user_task("review")
    assert (task.assignee, task.candidate_groups, task.candidate_users) == ("", (), ())
    assert (task.due_date, task.follow_up_date, task.priority) == (None, None, 50)
    assert engine.element("review").state is ElementState.ACTIVATED
    assert engine.instance.jobs == {}


def test_its_expressions_are_evaluated_when_it_is_entered(engine: Scenario) -> None:
    engine.deploy(
        review(
            assignment={"assignee": "=who", "candidateGroups": "sales, legal", "candidateUsers": "=[who]"},
            schedule={"dueDate": "2030-01-01T01:00:00+01:00", "followUpDate": "=date and time(when)"},
            priority="=50 + 1",
            inputs={"when": '="2030-01-01T00:00:00Z"'},
        ).end()
    )

    engine.start(who="ann")

    task = engine.user_task("review")
    assert task.assignee == "ann"
    assert (task.candidate_groups, task.candidate_users) == (("sales", "legal"), ("ann",))
    assert (task.due_date, task.follow_up_date, task.priority) == (NEW_YEAR, NEW_YEAR, 51)


def test_it_is_created_unassigned_then_assigned_and_then_its_element_is_active(engine: Scenario) -> None:
    engine.deploy(review(assignment={"assignee": "ann"}).end())

    engine.start()

    happened = engine.happened(UserTaskCreated, UserTaskAssigned, ElementActivated)
    assert [type(event) for event in happened[-3:]] == [UserTaskCreated, UserTaskAssigned, ElementActivated]


def test_searches_see_what_the_model_says_of_it(engine: Scenario) -> None:
    engine.deploy(review(headers={"screen": "wide"}, form={"externalReference": '="form/" + kind'}).end())

    engine.start(kind="a")

    found = row(engine)
    assert (found.name, found.process_name, found.process_definition_version) == ("Review", "Order", 1)
    assert (found.custom_headers, found.external_form_reference) == ({"screen": "wide"}, "form/a")
    assert (found.state, found.creation_date, found.completion_date) == ("CREATED", engine.now, None)


@pytest.mark.parametrize("priority", ["=-1", "=101", "=1000"])
def test_a_priority_outside_its_range_is_an_incident(engine: Scenario, priority: str) -> None:
    engine.deploy(review(priority=priority).end())

    engine.start()

    message = f"Expected priority to be in the range [0,100] but was '{priority[1:]}'"
    assert (engine.incident.error_type, engine.incident.message) == (ErrorType.EXTRACT_VALUE_ERROR, message)
    assert engine.instance.user_tasks == {}


@pytest.mark.parametrize(
    "extensions",
    [
        pytest.param({"assignment": {"assignee": "=1"}}, id="assignee"),
        pytest.param({"assignment": {"candidateGroups": '="a"'}}, id="candidate groups"),
        pytest.param({"assignment": {"candidateUsers": "=[1]"}}, id="candidate users"),
        pytest.param({"schedule": {"dueDate": "=5"}}, id="due date"),
        pytest.param({"schedule": {"followUpDate": '="soon"'}}, id="follow-up date"),
        pytest.param({"priority": '="high"'}, id="priority"),
        pytest.param({"form": {"externalReference": "=[]"}}, id="form"),
    ],
)
def test_an_expression_of_the_wrong_type_is_an_incident(engine: Scenario, extensions: dict[str, Any]) -> None:
    engine.deploy(review(**extensions).end()).start()

    assert (engine.incident.error_type, engine.incident.element_id) == (
        ErrorType.EXTRACT_VALUE_ERROR,
        "review",
    )
    assert engine.instance.user_tasks == {}


def test_resolving_the_incident_creates_the_user_task(engine: Scenario) -> None:
    fork = process("order").parallel_gateway("fork").user_task("review", priority="=urgency").end()
    engine.deploy(fork.branch("fork").service_task("choose", type="choose").end()).start()

    engine.complete("choose", urgency=90).resolve()

    assert engine.user_task("review").priority == 90


# Assignment


def test_a_user_task_is_assigned_to_one_person_after_the_other(engine: Scenario) -> None:
    engine.deploy(review().end()).start()

    engine.execute(assign(engine, "ann"))
    engine.execute(assign(engine, "bob"))

    assert (engine.user_task("review").assignee, row(engine).assignee) == ("bob", "bob")


def test_an_assignment_that_must_not_override_another_is_refused(engine: Scenario) -> None:
    engine.deploy(review().end()).start()
    engine.execute(assign(engine, "ann", allow_override=False))

    refusal = engine.refusal(assign(engine, "bob", allow_override=False))

    assert refusal.type is RejectionType.INVALID_STATE
    assert engine.user_task("review").assignee == "ann"


def test_a_user_task_is_unassigned(engine: Scenario) -> None:
    engine.deploy(review(assignment={"assignee": "ann"}).end()).start()

    engine.execute(user_task_commands.UnassignUserTask("default", engine.user_task("review").key))

    assert (engine.user_task("review").assignee, row(engine).assignee) == ("", None)


# Update


def test_an_update_changes_what_it_names(engine: Scenario) -> None:
    engine.deploy(
        review(assignment={"candidateGroups": "sales"}, schedule={"dueDate": "2030-01-01T00:00:00Z"}).end()
    ).start()

    engine.execute(change(engine, candidate_users=("ann",), priority=7))

    task = engine.user_task("review")
    assert (task.candidate_groups, task.candidate_users, task.priority) == (("sales",), ("ann",), 7)
    assert task.due_date == NEW_YEAR


def test_an_update_clears_dates_and_lists(engine: Scenario) -> None:
    engine.deploy(
        review(assignment={"candidateGroups": "sales"}, schedule={"dueDate": "2030-01-01T00:00:00Z"}).end()
    ).start()
    follow_up = DateChange(NEW_YEAR)

    engine.execute(change(engine, candidate_groups=(), due_date=DateChange(None), follow_up_date=follow_up))

    task = engine.user_task("review")
    assert (task.candidate_groups, task.due_date, task.follow_up_date) == ((), None, NEW_YEAR)


# Completion


def test_completing_a_user_task_completes_its_element_and_merges_its_variables(engine: Scenario) -> None:
    engine.deploy(review().end()).start(approved=False)

    engine.complete_user_task("review", approved=True, by="ann")

    assert engine.path == ["start", "review", "end"]
    assert engine.variables() == {"approved": True, "by": "ann"}
    assert (row(engine).state, row(engine).completion_date) == ("COMPLETED", engine.now)
    assert engine.is_completed


def test_with_output_mappings_its_variables_are_local(engine: Scenario) -> None:
    engine.deploy(review(outputs={"result": "=ok"}).end()).start()
    review_key = engine.element("review").key

    engine.complete_user_task("review", ok=True)

    assert (engine.variables(), engine.variables(review_key)) == ({"result": True}, {"ok": True})


def test_an_output_mapping_that_fails_leaves_a_completed_user_task(engine: Scenario) -> None:
    engine.deploy(review(outputs={"result": '=assert(ok, ok, "no")'}).end()).start()

    engine.complete_user_task("review", ok=False)

    assert engine.incident.error_type is ErrorType.IO_MAPPING_ERROR
    assert (row(engine).state, engine.instance.user_tasks) == ("COMPLETED", {})
    assert engine.element("review").state is ElementState.COMPLETING


# Refusals


@pytest.mark.parametrize("is_foreign", [True, False], ids=["of another tenant", "completed"])
def test_a_user_task_that_is_not_there_is_not_found(engine: Scenario, *, is_foreign: bool) -> None:
    engine.deploy(review().end()).start()
    key = engine.user_task("review").key
    if not is_foreign:
        engine.complete_user_task("review")
    tenant_id = "other" if is_foreign else "default"

    refused = [
        user_task_commands.AssignUserTask(tenant_id=tenant_id, user_task_key=key, assignee="ann"),
        user_task_commands.UnassignUserTask(tenant_id, key),
        user_task_commands.UpdateUserTask(tenant_id=tenant_id, user_task_key=key, priority=1),
        user_task_commands.CompleteUserTask(tenant_id, key),
    ]

    assert {engine.refusal(command).type for command in refused} == {RejectionType.NOT_FOUND}


def test_the_key_of_a_job_names_no_user_task(engine: Scenario) -> None:
    engine.deploy(process("order").service_task("ship", type="ship").end()).start()

    refusal = engine.refusal(user_task_commands.CompleteUserTask("default", engine.job("ship").key))

    assert refusal.type is RejectionType.NOT_FOUND


# Termination


def test_a_boundary_event_cancels_the_user_task(engine: Scenario) -> None:
    late = review().end("done").boundary_timer("late", on="review", duration="PT1M").end("too_late")
    engine.deploy(late).start()

    engine.advance(MINUTE)

    assert engine.path == ["start", "late", "too_late"]
    assert (row(engine).state, row(engine).completion_date) == ("CANCELED", engine.now)


def test_an_event_that_does_not_interrupt_leaves_the_user_task(engine: Scenario) -> None:
    remind = review().end("done")
    remind.boundary_timer("remind", on="review", is_interrupting=False, duration="PT1M").end("reminded")
    engine.deploy(remind).start().advance(MINUTE)

    engine.complete_user_task("review")

    assert engine.path == ["start", "remind", "reminded", "review", "done"]


def test_a_cancellation_closes_subscriptions_then_cancels_the_user_task_then_ends_its_element(
    engine: Scenario,
) -> None:
    late = review().end().boundary_timer("late", on="review", duration="PT1M").end()
    engine.deploy(process("outer").embed(sub_process("inner").task("t").end()).end())
    engine.deploy(late).start()

    engine.cancel()

    happened = engine.happened(SubscriptionClosed, UserTaskCanceled, ElementTerminated)
    kinds = [type(event) for event in happened]
    assert kinds == [SubscriptionClosed, UserTaskCanceled, ElementTerminated, ElementTerminated]


# Listeners of the element


def test_execution_listeners_come_before_and_after_the_user_task(engine: Scenario) -> None:
    listened = review().execution_listener("start", type="before").execution_listener("end", type="after")
    engine.deploy(listened.end()).start()
    assert engine.instance.user_tasks == {}

    engine.complete("before").complete_user_task("review").complete("after")

    assert engine.is_completed


# Migration


def test_a_user_task_keeps_its_assignment_when_it_is_migrated(engine: Scenario) -> None:
    engine.deploy(process("next", name="Next").user_task("check", name="Check", priority="1").end())
    engine.deploy(review(assignment={"assignee": "ann"}).end()).start()

    engine.migrate("next", {"review": "check"})

    task, found = engine.user_task("check"), row(engine)
    assert (task.assignee, task.priority) == ("ann", 50)
    assert (found.element_id, found.name, found.process_name) == ("check", "Check", "Next")
    assert found.process_definition_id == "next"


def test_a_user_task_of_a_job_worker_becomes_native_when_it_is_migrated(engine: Scenario) -> None:
    engine.deploy(process("next").user_task("check", assignment={"assignee": "=who"}, priority="9").end())
    engine.deploy(
        review(
            is_native=False,
            assignment={"assignee": "bob", "candidateUsers": "ann,bob"},
            schedule={"dueDate": "2030-01-01T00:00:00Z"},
            form={"formKey": "form"},
            headers={"screen": "wide"},
        ).end()
    ).start(who="ann")

    engine.migrate("next", {"review": "check"})

    task, found = engine.user_task("check"), row(engine)
    assert (task.assignee, task.candidate_users, task.due_date, task.priority) == (
        "ann",
        ("ann", "bob"),
        NEW_YEAR,
        9,
    )
    assert (found.custom_headers, found.external_form_reference) == ({"screen": "wide"}, "form")
    assert engine.instance.jobs == {}


def test_the_incident_of_a_job_that_becomes_a_user_task_is_resolved(engine: Scenario) -> None:
    engine.deploy(process("next").user_task("check").end())
    engine.deploy(review(is_native=False).end()).start().fail("io.camunda.zeebe:userTask")

    engine.migrate("next", {"review": "check"})

    assert engine.instance.incidents == {}
    assert engine.complete_user_task("check").is_completed


def test_a_native_user_task_does_not_become_one_of_a_job_worker(engine: Scenario) -> None:
    engine.deploy(process("next").user_task("check", is_native=False).end())
    engine.deploy(review().end()).start()

    refusal = engine.refusal(engine.migration("next", {"review": "check"}))

    assert refusal.type is RejectionType.INVALID_STATE
    assert "is a native one" in refusal.reason


def test_a_migration_with_an_assignee_that_cannot_be_evaluated_is_refused(engine: Scenario) -> None:
    engine.deploy(process("next").user_task("check", assignment={"assignee": "=1"}).end())
    engine.deploy(review(is_native=False).end()).start()

    refusal = engine.refusal(engine.migration("next", {"review": "check"}))

    assert refusal.type is RejectionType.INVALID_STATE
    assert engine.happened(events.JobCanceled) == []


def test_keys_of_user_tasks_are_their_own(engine: Scenario) -> None:
    engine.deploy(review().end()).start()

    task = engine.user_task("review")

    assert len({task.key, task.element_instance_key, engine.instance_key, Key(0)}) == 4
