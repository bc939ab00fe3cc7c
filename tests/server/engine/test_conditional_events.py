import pytest

from server.bpmn.builder import ProcessBuilder, event_sub_process, process, sub_process
from server.engine import events, process_instance_commands
from server.engine import process as handle
from server.engine.incidents import ErrorType
from server.engine.keys import Key
from server.engine.lifecycle import ElementState
from server.engine.limits import EngineLimits
from server.engine.rejection import RejectionType
from server.engine.subscriptions import ConditionalSubscription
from tests.server.engine.scenario import Scenario, texts


def waiting(condition: str = "=x > 1", **chosen: str) -> ProcessBuilder:
    return process("order").condition_catch("wait", condition=condition, **chosen).end("done")


def guarded(condition: str = "=x > 1", *, is_interrupting: bool = True, **inputs: str) -> ProcessBuilder:
    """A task with a condition at its boundary."""
    return (
        process("order").service_task("ship", type="ship", inputs=inputs).end("done")
        .boundary_condition("guard", on="ship", condition=condition, is_interrupting=is_interrupting)
        .service_task("tell", type="tell").end("told")
    )  # fmt: skip


def set_variables(engine: Scenario, scope_key: Key | None = None, /, **variables: object) -> Scenario:
    """Of the process instance, or local ones of a scope in it."""
    engine.execute(
        process_instance_commands.SetVariables(
            tenant_id="default",
            process_instance_key=engine.instance_key,
            element_instance_key=scope_key or engine.instance_key,
            variables=texts(variables),
            is_local=scope_key is not None,
        )
    )
    return engine


def conditions(engine: Scenario) -> list[str]:
    """The events whose conditions are waited for."""
    return sorted(
        each.element_id
        for each in engine.instance.subscriptions.values()
        if isinstance(each, ConditionalSubscription)
    )


# Catching


def test_an_event_waits_until_its_condition_is_true(engine: Scenario) -> None:
    engine.deploy(waiting()).start(x=0)
    assert engine.element("wait").state is ElementState.ACTIVATED

    set_variables(engine, x=1)
    assert engine.is_running

    assert set_variables(engine, x=2).is_completed


def test_a_condition_that_is_true_already_is_met_at_once(engine: Scenario) -> None:
    assert engine.deploy(waiting()).start(x=2).path == ["start", "wait", "done"]


def test_a_variable_that_is_not_there_yet_does_not_meet_a_condition(engine: Scenario) -> None:
    engine.deploy(waiting("=cancelled")).start()
    assert engine.instance.incidents == {}

    assert set_variables(engine, cancelled=True).is_completed


def test_a_condition_that_gives_something_else_is_an_incident_until_it_does_not(engine: Scenario) -> None:
    engine.deploy(waiting("=x")).start(x="yes")
    assert (engine.incident.error_type, engine.incident.element_id) == (ErrorType.EXTRACT_VALUE_ERROR, "wait")

    set_variables(engine, x=False)
    assert engine.resolve().element("wait").state is ElementState.ACTIVATED

    assert set_variables(engine, x=True).is_completed


def test_a_condition_that_fails_later_is_not_met(engine: Scenario) -> None:
    engine.deploy(waiting("=x")).start(x=False)

    set_variables(engine, x="yes")

    assert engine.instance.incidents == {}
    assert set_variables(engine, x=True).is_completed


def test_a_job_that_sets_the_variable_meets_the_condition(engine: Scenario) -> None:
    fork = process("order").parallel_gateway("fork").condition_catch("wait", condition="=x > 1").end("done")
    engine.deploy(fork.branch("fork").service_task("count", type="count").end("counted")).start()

    engine.complete("count", x=2)

    assert "wait" in engine.path
    assert engine.is_completed


def test_only_variables_that_the_condition_refers_to_have_it_evaluated(engine: Scenario) -> None:
    engine.deploy(guarded("=count(list) > 0 and uuid() != x", is_interrupting=False)).start(list=[1], x="")
    assert engine.offered == ["ship", "tell"]

    set_variables(engine, other=1)
    assert engine.offered == ["ship", "tell"]

    set_variables(engine, list=[2])
    assert engine.offered == ["ship", "tell", "tell"]


def test_a_variable_that_keeps_its_value_changes_nothing(engine: Scenario) -> None:
    engine.deploy(guarded(is_interrupting=False)).start(x=2)

    set_variables(engine, x=2)

    assert engine.offered == ["ship", "tell"]


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ("create", ["created"]),
        ("update", ["updated"]),
        ("create, update", ["created", "updated"]),
    ],
)
def test_a_filter_chooses_the_changes_after_which_a_condition_is_evaluated(
    engine: Scenario, changes: str, told: list[str]
) -> None:
    builder = process("order").service_task("ship", type="ship").end()
    builder.boundary_condition("guard", on="ship", condition="=x > 0", is_interrupting=False, changes=changes)
    engine.deploy(builder.service_task("tell", type='=if x = 1 then "created" else "updated"').end()).start()

    set_variables(engine, x=1)
    set_variables(engine, x=2)

    assert [each.type for each in engine.instance.jobs.values()] == ["ship", *told]


def test_a_filter_chooses_the_variables_that_have_a_condition_evaluated(engine: Scenario) -> None:
    engine.deploy(waiting("=x > y", names="y, z")).start(x=0, y=1)

    set_variables(engine, x=2)
    assert engine.is_running

    assert set_variables(engine, y=0).is_completed


# Boundary events


@pytest.mark.parametrize("is_interrupting", [True, False])
def test_a_boundary_event_is_triggered_when_its_condition_becomes_true(
    engine: Scenario, *, is_interrupting: bool
) -> None:
    engine.deploy(guarded(is_interrupting=is_interrupting)).start(x=0)

    set_variables(engine, x=2)
    set_variables(engine, x=3)

    assert engine.offered == (["tell"] if is_interrupting else ["ship", "tell", "tell"])


@pytest.mark.parametrize("is_interrupting", [True, False])
def test_a_boundary_event_whose_condition_is_true_is_triggered_when_its_activity_is_entered(
    engine: Scenario, *, is_interrupting: bool
) -> None:
    engine.deploy(guarded(is_interrupting=is_interrupting)).start(x=2)

    assert engine.offered == (["tell"] if is_interrupting else ["ship", "tell"])
    assert len(engine.happened(events.JobCanceled)) == (1 if is_interrupting else 0)


@pytest.mark.parametrize("is_interrupting", [True, False])
def test_it_comes_before_the_end_of_an_activity_that_waits_for_nothing(
    engine: Scenario, *, is_interrupting: bool
) -> None:
    builder = process("order").task("pass").end("done")
    builder.boundary_condition("guard", on="pass", condition="=x > 1", is_interrupting=is_interrupting)
    engine.deploy(builder.end("told")).start(x=2)

    assert engine.is_completed
    assert engine.path[:2] == ["start", "guard"]
    assert ("pass" in engine.path) is not is_interrupting


def test_one_command_triggers_an_event_once(engine: Scenario) -> None:
    engine.deploy(guarded("=x > 1 or y > 1", is_interrupting=False)).start()

    set_variables(engine, x=2, y=2)

    assert engine.offered == ["ship", "tell"]


def test_input_mappings_of_the_activity_meet_the_condition(engine: Scenario) -> None:
    engine.deploy(guarded(x="=n + 1")).start(n=1)

    assert engine.offered == ["tell"]


def test_what_an_activity_leaves_behind_does_not_trigger_its_own_boundary_event(engine: Scenario) -> None:
    task = process("order").service_task("ship", type="ship", outputs={"x": "=n"}).end("done")
    task.boundary_condition("guard", on="ship", condition="=x > 1").end("told")
    engine.deploy(guarded(), task)

    engine.start("order").complete("ship", n=2)

    assert engine.path == ["start", "ship", "done"]


def test_results_without_mappings_do_not_either(engine: Scenario) -> None:
    engine.deploy(guarded()).start().complete("ship", x=2)

    assert engine.path == ["start", "ship", "done"]


def test_an_activity_that_waits_for_its_end_listeners_is_not_interrupted_by_its_results(
    engine: Scenario,
) -> None:
    builder = process("order").service_task("ship", type="ship").execution_listener("end", type="after")
    builder.end("done").boundary_condition("guard", on="ship", condition="=x > 1").end("told")
    engine.deploy(builder).start()

    engine.complete("ship", x=2).complete("after")

    assert engine.path == ["start", "ship", "done"]


# Scopes


def test_a_variable_of_another_scope_is_not_seen(engine: Scenario) -> None:
    fork = process("order").parallel_gateway("fork")
    for name in ("one", "two"):
        fork.branch("fork").service_task(name, type=name).end(f"{name}_done")
        fork.boundary_condition(f"{name}_guard", on=name, condition="=x > 1").end(f"{name}_told")
    engine.deploy(fork).start()

    set_variables(engine, engine.element("one").key, x=2)

    assert engine.offered == ["two"]
    assert engine.path[-1] == "one_told"


def test_a_variable_that_is_hidden_is_not_seen(engine: Scenario) -> None:
    engine.deploy(guarded(x="=0")).start()

    set_variables(engine, x=2)
    assert engine.offered == ["ship"]

    set_variables(engine, engine.element("ship").key, x=2)
    assert engine.offered == ["tell"]


def test_what_interrupts_a_scope_comes_before_what_waits_inside_it(engine: Scenario) -> None:
    inside = sub_process("inside").service_task("ship", type="ship").end()
    inside.boundary_condition("inner", on="ship", condition="=x > 1").end()
    builder = process("order").start().embed(inside).end()
    engine.deploy(builder.boundary_condition("outer", on="inside", condition="=x > 1").end("told")).start()

    set_variables(engine, x=2)

    assert engine.path == ["start", "inside_start", "outer", "told"]


def test_siblings_are_all_triggered(engine: Scenario) -> None:
    inside = sub_process("inside").service_task("ship", type="ship").end()
    inside.boundary_condition("guard", on="ship", condition="=x > 1").end("told")
    engine.deploy(process("order").start().embed(inside).multi_instance("=[1, 2, 3]").end()).start()

    set_variables(engine, x=2)

    assert engine.path.count("told") == 3
    assert engine.is_completed


@pytest.mark.parametrize("is_interrupting", [True, False])
def test_an_event_sub_process_begins_when_its_condition_becomes_true(
    engine: Scenario, *, is_interrupting: bool
) -> None:
    stop = event_sub_process("stop").start_condition(
        "begin", condition="=x > 1", is_interrupting=is_interrupting
    )
    builder = process("order").service_task("ship", type="ship").end("done")
    engine.deploy(builder.beside(stop.service_task("tell", type="tell").end())).start(x=0)

    set_variables(engine, x=2)
    set_variables(engine, x=3)

    assert engine.offered == (["tell"] if is_interrupting else ["ship", "tell", "tell"])


def test_an_event_sub_process_whose_condition_is_true_begins_before_its_scope(engine: Scenario) -> None:
    stop = event_sub_process("stop").start_condition("begin", condition="=x > 1").end("stopped")
    engine.deploy(process("order").service_task("ship", type="ship").end().beside(stop)).start(x=2)

    assert engine.path == ["begin", "stopped", "stop"]
    assert engine.is_completed


def test_the_first_event_behind_a_gateway_closes_the_others(engine: Scenario) -> None:
    race = process("order").event_based_gateway("race")
    race.condition_catch("large", condition="=x > 10").end("by size")
    race.branch("race").condition_catch("positive", condition="=x > 0").end("by sign")
    engine.deploy(race)

    assert engine.start(x=20).path[-2:] == ["large", "by size"]
    engine.start(x=0)
    set_variables(engine, x=5)
    assert engine.path[-2:] == ["positive", "by sign"]


def test_what_ends_waits_for_no_condition(engine: Scenario) -> None:
    engine.deploy(guarded()).start(x=0)
    assert conditions(engine) == ["guard"]
    instance = engine.instance

    engine.complete("ship")

    assert instance.conditions == {}


# Migration


def test_a_migrated_instance_waits_for_the_condition_of_the_target(engine: Scenario) -> None:
    new = process("new").condition_catch("await", condition="=y > 1").end("end")
    engine.deploy(waiting(), new).start("order", x=0)

    engine.migrate("new", {"wait": "await"})

    set_variables(engine, x=2)
    assert engine.is_running
    assert set_variables(engine, y=2).is_completed


def test_migration_opens_and_closes_conditions_of_events_that_are_not_mapped(engine: Scenario) -> None:
    new = process("new").service_task("ship", type="ship").end()
    new.boundary_condition("other", on="ship", condition="=y > 1").end("told")
    engine.deploy(guarded(), new).start("order", x=0, y=0)

    engine.migrate("new", {"ship": "ship"})

    set_variables(engine, x=2)
    assert conditions(engine) == ["other"]
    set_variables(engine, y=2)
    assert engine.path[-2:] == ["other", "told"]


def test_a_condition_that_is_true_is_met_by_the_migration_that_opens_it(engine: Scenario) -> None:
    new = process("new").service_task("ship", type="ship").end()
    new.boundary_condition("other", on="ship", condition="=y > 1").end("told")
    engine.deploy(guarded(), new).start("order", y=2)

    engine.migrate("new", {"ship": "ship"})

    assert engine.path[-2:] == ["other", "told"]


def test_a_condition_is_mapped_to_no_other_trigger(engine: Scenario) -> None:
    engine.deploy(waiting(), process("new").timer_catch("wait", duration="PT1H").end()).start("order")

    refusal = engine.refusal(engine.migration("new", {"wait": "wait"}))

    assert refusal.type is RejectionType.INVALID_STATE
    assert "wait for different triggers" in refusal.reason


# Many


def many(condition: str) -> ProcessBuilder:
    """Instances of a task, each with a condition at the boundary of the sub-process around it."""
    inside = sub_process("inside").service_task("ship", type="ship").end()
    inside.boundary_condition("guard", on="ship", condition=condition).end("told")
    return process("order").start().embed(inside).multi_instance("=list", element="item").end()


def test_conditions_are_evaluated_in_slices() -> None:
    scenario = Scenario(limits=EngineLimits(slice_steps=5_000)).deploy(many("=x > 1"))
    scenario.start(list=list(range(50)))

    command = process_instance_commands.SetVariables(
        tenant_id="default",
        process_instance_key=scenario.instance_key,
        element_instance_key=scenario.instance_key,
        variables={"x": "2"},
    )
    scenario.happens(handle(scenario.state, command, scenario.now).events)

    assert 0 < scenario.path.count("guard") < 50
    scenario.expect_laws()
    scenario.execute(process_instance_commands.ContinueProcessInstance("default", scenario.instance_key))
    assert scenario.path.count("guard") == 50
    assert scenario.is_completed
    scenario.expect_laws()


def test_a_local_variable_costs_what_sees_it_however_many_others_wait() -> None:
    scenario = Scenario().deploy(many("=y > 1")).start(list=list(range(100)))
    instance = scenario.instance
    host = scenario.element("ship").key

    assert len(instance.conditions[host, "y"]) == 1
    assert len(instance.conditions[scenario.instance_key, "y"]) == 100
    set_variables(scenario, host, y=2)

    assert scenario.path.count("guard") == 1
    scenario.expect_laws()
