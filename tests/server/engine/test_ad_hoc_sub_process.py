"""Ad-hoc sub-processes (BPMN 2.0.2 §13.3.5)."""

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from server.bpmn.builder import ProcessBuilder, ad_hoc_sub_process, event_sub_process, process, sub_process
from server.engine import process as process_command
from server.engine.commands import Command
from server.engine.documents import unpack
from server.engine.events import ElementActivating, ElementTerminated, VariableUpdated
from server.engine.incidents import ErrorType
from server.engine.job_commands import CompleteJob, ThrowJobError, UpdateJob
from server.engine.job_results import AdHocSubProcessResult, UserTaskResult
from server.engine.keys import Key
from server.engine.lifecycle import ElementState
from server.engine.limits import EngineLimits
from server.engine.process_instance import ElementInstance
from server.engine.process_instance_commands import (
    ActivateAdHocSubProcessActivities,
    ContinueProcessInstance,
    CreateProcessInstance,
    SetVariables,
)
from server.engine.rejection import RejectionType
from server.engine.scopes import find
from server.engine.work import ActivateElements, Activation
from server.store import entities
from tests.server.engine.scenario import MINUTE, Scenario, texts
from tests.server.engine.stored import pages_of

INNER = "care#innerInstance"


def inside() -> ProcessBuilder:
    """Three activities, the first with another one behind it."""
    builder = ad_hoc_sub_process("care").service_task("wash", type="wash").service_task("dry", type="dry")
    return builder.apart().service_task("feed", type="feed").apart().task("pet")


def caring(active: str | None = "=active", **ad_hoc: Any) -> ProcessBuilder:
    return process("cat").start().embed_ad_hoc(inside(), active=active, **ad_hoc).task("after").end()


def inner_instances(engine: Scenario) -> list[ElementInstance]:
    return [each for each in engine.instance.elements.values() if each.element_id == INNER]


def set_variables(engine: Scenario, **variables: object) -> Scenario:
    key = engine.instance_key
    command = SetVariables(
        tenant_id="default", process_instance_key=key, element_instance_key=key, variables=texts(variables)
    )
    engine.execute(command)
    return engine


# Activation


def test_each_element_of_the_collection_is_activated_in_an_inner_instance(engine: Scenario) -> None:
    engine.deploy(caring())

    engine.start(active=["wash", "feed"])

    care = engine.element("care")
    assert (care.type, care.state) == ("AD_HOC_SUB_PROCESS", ElementState.ACTIVATED)
    inner = inner_instances(engine)
    assert [each.type for each in inner] == ["AD_HOC_SUB_PROCESS_INNER_INSTANCE"] * 2
    assert [each.scope_key for each in inner] == [care.key, care.key]
    assert [engine.element(name).scope_key for name in ("wash", "feed")] == [each.key for each in inner]


@pytest.mark.parametrize("order", [["wash", "feed"], ["feed", "wash"], ["pet", "feed", "wash", "feed"]])
def test_elements_are_activated_in_the_order_of_the_collection(engine: Scenario, order: list[str]) -> None:
    engine.deploy(caring()).start(active=order)

    entered = [event.element_id for event in engine.happened(ElementActivating)]
    assert [element_id for element_id in entered if element_id in order] == order


def test_rows_have_the_types_of_the_wire(engine: Scenario) -> None:
    engine.deploy(caring()).start(active=["feed"])

    rows = {row.element_id: row for row in engine.rows.all(entities.ElementInstance)}

    assert rows["care"].type == "AD_HOC_SUB_PROCESS"
    assert rows[INNER].type == "AD_HOC_SUB_PROCESS_INNER_INSTANCE"


def test_an_element_may_be_activated_several_times(engine: Scenario) -> None:
    engine.deploy(caring())

    engine.start(active=["feed", "feed"])

    assert engine.offered == ["feed", "feed"]


def test_paths_inside_follow_their_flows(engine: Scenario) -> None:
    engine.deploy(caring()).start(active=["wash"])

    engine.complete("wash")
    between = engine.offered
    engine.complete("dry")

    assert between == ["dry"]
    assert engine.path == ["start", "wash", "dry", INNER, "care", "after", "end"]
    assert engine.is_completed


@pytest.mark.parametrize("active", ["=[]", "=null", "=unknown", None])
def test_it_waits_when_nothing_is_activated(engine: Scenario, active: str | None) -> None:
    engine.deploy(caring(active))

    engine.start()

    assert engine.element("care").state is ElementState.ACTIVATED
    assert inner_instances(engine) == []


def test_without_a_condition_it_completes_after_the_last_path(engine: Scenario) -> None:
    engine.deploy(caring()).start(active=["wash", "feed", "pet"])

    engine.complete("feed").complete("wash")
    before = engine.is_running
    engine.complete("dry")

    assert before
    assert engine.is_completed


@pytest.mark.parametrize(
    ("active", "told"),
    [
        pytest.param(["feed", "fly"], "the given elements [fly] do not exist", id="unknown"),
        pytest.param(["dry"], "the given elements [dry] do not exist", id="not the first of a path"),
        pytest.param("feed", "to be 'ARRAY', but was 'STRING'", id="no list"),
        pytest.param(["feed", 1], "to be an 'ARRAY' of 'STRING'", id="no text"),
        pytest.param(["feed"] * 4, "at most 3 active elements, found 4", id="too many"),
    ],
)
def test_a_wrong_collection_is_an_incident_that_can_be_resolved(active: object, told: str) -> None:
    engine = Scenario(limits=EngineLimits(loop_items=3))
    engine.deploy(
        process("cat")
        .start()
        .parallel_gateway("all")
        .embed_ad_hoc(inside(), active="=active")
        .branch("all")
        .service_task("correct", type="correct")
    )

    engine.start(active=active)
    incident = engine.incident
    engine.complete("correct", active=["feed"]).resolve()

    assert (incident.error_type, incident.element_id) == (ErrorType.EXTRACT_VALUE_ERROR, "care")
    assert told in incident.message
    assert engine.offered == ["feed"]
    engine.expect_laws()


def test_a_boundary_event_or_an_event_sub_process_inside_cannot_be_activated(engine: Scenario) -> None:
    scope = inside().branch("feed").boundary_timer("slow", on="feed", duration="PT1H").task("hurry")
    scope.beside(event_sub_process("help").start_timer("late", is_interrupting=False, duration="PT1H").end())
    engine.deploy(process("cat").start().embed_ad_hoc(scope, active="=active").end())

    engine.start(active=["slow", "help", "feed"])

    assert "[slow, help] do not exist" in engine.incident.message


# Variables


def test_it_describes_its_elements_in_a_local_variable(engine: Scenario) -> None:
    scope = ad_hoc_sub_process("care").service_task("wash", type="wash", name="Wash it").task("dry")
    scope.apart().task("feed")
    xml = process("cat").start().embed_ad_hoc(scope).end().to_xml()
    properties = '<zeebe:properties><zeebe:property name="tool" value="brush"/></zeebe:properties>'
    described = xml.replace(
        b'<zeebe:taskDefinition type="wash"/>', b'<zeebe:taskDefinition type="wash"/>' + properties.encode()
    ).replace(b'name="Wash it">', b'name="Wash it"><bpmn:documentation>With water.</bpmn:documentation>')
    engine.deploy(described)

    engine.start()

    assert engine.variables(engine.element("care").key) == {
        "adHocSubProcessElements": [
            {
                "elementId": "wash",
                "elementName": "Wash it",
                "documentation": "With water.",
                "properties": {"tool": "brush"},
            },
            {"elementId": "feed"},
        ]
    }


def test_it_describes_the_parameters_of_its_elements(engine: Scenario) -> None:
    inputs: dict[str, str | None] = {
        "url": '=fromAi(toolCall.url, "Where " + "to look", "string")',
        "count": '={n: fromAi(value: toolCall.n, type: "number", schema: {minimum: 1.5}, options: {required: false})}',
        "both": "=fromAi(toolCall.a) + fromAi(toolCall.b, toolCall.c)",
        "none": "=toolCall.d",
        "text": "fromAi(x)",
    }
    scope = ad_hoc_sub_process("care").service_task("find", type="find", inputs=inputs)
    engine.deploy(process("cat").start().embed_ad_hoc(scope).end())

    engine.start()

    (described,) = engine.variables(engine.element("care").key)["adHocSubProcessElements"]
    assert described["parameters"] == [
        {"name": "toolCall.url", "description": "Where to look", "type": "string"},
        {"name": "toolCall.n", "type": "number", "schema": {"minimum": 1.5}, "options": {"required": False}},
        {"name": "toolCall.a"},
        {"name": "toolCall.b"},
    ]


def test_input_mappings_come_before_the_collection(engine: Scenario) -> None:
    engine.deploy(caring("=mapped", inputs={"mapped": "=wanted"}))

    engine.start(wanted=["feed"])

    assert engine.offered == ["feed"]


def test_inner_instances_have_scopes_of_their_own(engine: Scenario) -> None:
    engine.deploy(caring(output="=result.size", outputs_to="results")).start(active=["feed", "feed"])

    engine.complete("feed", result={"size": 1})
    first = engine.is_running
    engine.complete("feed", result={"size": 2})

    assert first
    assert engine.variables() == {"active": ["feed", "feed"], "results": [1, 2]}


def test_outputs_are_collected_in_the_order_of_completion(engine: Scenario) -> None:
    scope = (
        ad_hoc_sub_process("care").service_task("wash", type="wash").apart().service_task("feed", type="feed")
    )
    ad_hoc = {"active": '=["wash", "feed"]', "output": "=did", "outputs_to": "all"}
    engine.deploy(process("cat").start().embed_ad_hoc(scope, **ad_hoc).end()).start()
    care = engine.element("care").key
    before = engine.variables(care)["all"]

    engine.complete("feed", did="fed")
    between = engine.variables(care)["all"]
    engine.complete("wash")

    assert (before, between) == ([], ["fed"])
    assert engine.variables()["all"] == ["fed", None]


def test_nothing_else_is_propagated_but_by_output_mappings(engine: Scenario) -> None:
    engine.deploy(caring(output="=1", outputs_to="all", outputs={"number": "=count(all)"}))

    engine.start(active=["pet", "pet"])

    assert engine.variables() == {"active": ["pet", "pet"], "all": [1, 1], "number": 2}


def test_an_output_that_fails_is_an_incident_of_the_inner_instance(engine: Scenario) -> None:
    engine.deploy(caring(output='=assert(ok, ok, "not ok")', outputs_to="all")).start(active=["feed"])

    engine.complete("feed")
    incident = engine.incident
    set_variables(engine, ok=True).resolve()

    assert (incident.error_type, incident.element_id) == (ErrorType.EXTRACT_VALUE_ERROR, INNER)
    assert engine.variables()["all"] == [True]
    assert engine.is_completed


def test_a_collection_that_is_none_any_more_is_an_incident(engine: Scenario) -> None:
    engine.deploy(caring(output="=1", outputs_to="all")).start(active=["feed"])

    engine.complete("feed", all="text")

    assert "output collection 'all' to be an 'ARRAY'" in engine.incident.message


# Completion


def test_a_condition_that_holds_terminates_the_rest(engine: Scenario) -> None:
    engine.deploy(caring(until="=done")).start(active=["wash", "feed", "feed"], done=False)

    engine.complete("feed")
    before = len(inner_instances(engine))
    engine.complete("feed", done=True)

    assert before == 2
    assert engine.path.count(INNER) == 2
    assert engine.is_completed


def test_without_cancelling_it_waits_for_the_rest(engine: Scenario) -> None:
    engine.deploy(caring(until="=done", cancels_remaining=False)).start(active=["feed", "wash"], done=False)

    engine.complete("feed", done=True)
    before = engine.offered
    engine.complete("wash").complete("dry")

    assert before == ["wash"]
    assert engine.is_completed


def test_a_condition_that_does_not_hold_keeps_it_waiting(engine: Scenario) -> None:
    engine.deploy(caring(until="=done")).start(active=["pet"], done=False)

    assert engine.element("care").state is ElementState.ACTIVATED
    assert inner_instances(engine) == []


def test_the_condition_sees_the_outputs(engine: Scenario) -> None:
    ad_hoc = {"until": "=count(all) = 2", "output": "=1", "outputs_to": "all"}
    engine.deploy(caring(**ad_hoc)).start(active=["feed"] * 3)

    engine.complete("feed")
    before = engine.is_running
    engine.complete("feed")

    assert before
    assert engine.variables()["all"] == [1, 1]
    assert engine.is_completed


def test_a_condition_that_is_none_is_an_incident_of_the_inner_instance(engine: Scenario) -> None:
    engine.deploy(caring(until="=done", output="=1", outputs_to="all")).start(active=["feed"], done="no")

    engine.complete("feed")
    incident = engine.incident
    set_variables(engine, done=True).resolve()

    assert (incident.error_type, incident.element_id) == (ErrorType.EXTRACT_VALUE_ERROR, INNER)
    assert engine.variables()["all"] == [1]
    assert engine.is_completed


# Events


def test_an_event_on_its_boundary_ends_everything_inside(engine: Scenario) -> None:
    builder = process("cat").start().embed_ad_hoc(inside(), active="=active").end("happy")
    engine.deploy(builder.boundary_timer("late", on="care", duration="PT1M").end("sad"))
    engine.start(active=["wash", "feed"])

    engine.advance(MINUTE)

    assert engine.path[-2:] == ["late", "sad"]
    assert engine.is_completed


def test_an_error_inside_is_caught_on_its_boundary(engine: Scenario) -> None:
    builder = process("cat").start().embed_ad_hoc(inside(), active="=active").end("happy")
    engine.deploy(builder.boundary_error("bitten", on="care").end("sad")).start(active=["wash", "feed"])

    (job,) = engine.activate("feed")
    engine.execute(ThrowJobError(tenant_id="default", job_key=job.key, error_code="bite"))

    assert engine.path[-2:] == ["bitten", "sad"]
    assert engine.is_completed


def test_an_event_sub_process_runs_beside_the_paths(engine: Scenario) -> None:
    help_ = event_sub_process("help").start_timer("late", is_interrupting=False, duration="PT1M")
    scope = inside().beside(help_.service_task("aid", type="aid").end())
    engine.deploy(process("cat").start().embed_ad_hoc(scope, active="=active").end()).start(active=["feed"])

    engine.advance(MINUTE)
    help_scope, care = engine.element("help").scope_key, engine.element("care").key
    engine.complete("feed")
    before = engine.is_running
    engine.complete("aid")

    assert before
    assert help_scope == care
    assert engine.is_completed


def test_an_event_sub_process_that_changes_what_the_condition_reads_completes_it(engine: Scenario) -> None:
    help_ = event_sub_process("help").start_timer("late", is_interrupting=False, duration="PT1M")
    scope = inside().beside(help_.service_task("aid", type="aid").end())
    builder = process("cat").start().embed_ad_hoc(scope, active="=active", until="=done").end()
    engine.deploy(builder).start(active=["feed"], done=False)

    engine.advance(MINUTE).complete("aid", done=True)

    assert engine.is_completed


@pytest.mark.parametrize("until", [None, "=done"])
def test_an_interrupting_event_sub_process_takes_the_place_of_the_paths(
    engine: Scenario, until: str | None
) -> None:
    help_ = event_sub_process("help").start_timer("late", duration="PT1M")
    scope = inside().beside(help_.service_task("aid", type="aid").end())
    builder = process("cat").start().embed_ad_hoc(scope, active="=active", until=until).end()
    engine.deploy(builder).start(active=["feed", "wash"], done=False)

    engine.advance(MINUTE)
    offered = engine.offered
    engine.complete("aid")

    assert offered == ["aid"]
    assert engine.is_completed


# Surroundings


@pytest.mark.parametrize("sequential", [False, True])
def test_it_is_repeated_like_a_sub_process(engine: Scenario, *, sequential: bool) -> None:
    builder = process("cat").start().embed_ad_hoc(inside(), active="=item", output="=1", outputs_to="all")
    loop: dict[str, Any] = {"element": "item", "output": "=count(all)", "outputs_to": "counts"}
    engine.deploy(builder.multi_instance("=lists", sequential=sequential, **loop).end())

    engine.start(lists=[["feed", "pet"], ["pet"]])
    engine.complete("feed")

    assert engine.variables()["counts"] == [2, 1]
    assert engine.is_completed


def test_it_may_contain_another_one(engine: Scenario) -> None:
    inner = ad_hoc_sub_process("play").service_task("chase", type="chase")
    outer = ad_hoc_sub_process("care").embed_ad_hoc(inner, active='=["chase"]')
    engine.deploy(process("cat").start().embed_ad_hoc(outer, active='=["play"]').end()).start()

    engine.complete("chase")

    assert engine.path == ["start", "chase", "play#innerInstance", "play", INNER, "care", "end"]
    assert engine.is_completed


def test_an_activity_inside_may_be_repeated_or_be_a_sub_process(engine: Scenario) -> None:
    scope = ad_hoc_sub_process("care").service_task("feed", type="feed").multi_instance("=[1, 2]")
    scope.apart().embed(sub_process("bath").service_task("wash", type="wash").end())
    engine.deploy(process("cat").start().embed_ad_hoc(scope, active='=["feed", "bath"]').end()).start()

    engine.complete("feed").complete("feed").complete("wash")

    assert engine.is_completed


def test_an_inclusive_gateway_joins_in_each_inner_instance(engine: Scenario) -> None:
    scope = ad_hoc_sub_process("care").node("inclusiveGateway", "split")
    scope.flow(condition="=true").service_task("a", type="a").node("inclusiveGateway", "join").task("joined")
    scope.branch("split").flow(condition="=true").service_task("b", type="b").connect_to("join")
    engine.deploy(process("cat").start().embed_ad_hoc(scope, active='=["split", "split"]').end()).start()

    engine.complete("a").complete("a").complete("b")
    joined = engine.path.count("joined")
    engine.complete("b")

    assert (joined, engine.path.count("joined")) == (1, 2)
    assert engine.is_completed


def test_activities_inside_are_compensated_when_it_has_completed(engine: Scenario) -> None:
    scope = ad_hoc_sub_process("care").service_task("wash", type="wash")
    scope.boundary_compensation("dirty", on="wash").service_task("soil", type="soil")
    builder = process("cat").start().embed_ad_hoc(scope, active='=["wash", "wash", "soil"]').end()
    engine.deploy(builder).start()
    refused = engine.incident.message
    compensating = process("cat").start().embed_ad_hoc(scope, active='=["wash"]').throw_compensation("undo")
    engine.deploy(compensating.end()).start().complete("wash")

    offered = engine.offered
    engine.complete("soil")

    assert "[soil] do not exist" in refused
    assert offered == ["soil"]
    assert engine.is_completed


def test_listeners_are_called_before_and_after_it(engine: Scenario) -> None:
    builder = process("cat").start().embed_ad_hoc(inside(), active="=active", output="=1", outputs_to="all")
    builder.execution_listener("start", type="begin").execution_listener("end", type="finish").end()
    engine.deploy(builder).start()

    engine.complete("begin", active=["feed"]).complete("feed").complete("finish")

    assert engine.variables()["all"] == [1]
    assert engine.is_completed


def test_cancelling_the_process_instance_ends_it(engine: Scenario) -> None:
    engine.deploy(caring()).start(active=["wash", "feed"])

    engine.cancel()

    assert engine.is_terminated
    assert engine.state.offers == {}


# Activation by callers


def activation(engine: Scenario, *elements: str, key: int | None = None, **command: Any) -> Command:
    return ActivateAdHocSubProcessActivities(
        process_instance_key=engine.instance_key,
        ad_hoc_sub_process_instance_key=engine.element("care").key if key is None else Key(key),
        elements=tuple(map(Activation, elements)),
        **{"tenant_id": "default", **command},
    )


def test_callers_activate_more_elements(engine: Scenario) -> None:
    engine.deploy(caring()).start(active=["feed"])

    engine.execute(activation(engine, "wash", "pet"))
    offered = engine.offered
    engine.complete("feed").complete("wash").complete("dry")

    assert offered == ["feed", "wash"]
    assert engine.path.count(INNER) == 3
    assert engine.is_completed


def test_callers_give_variables_to_the_inner_instance(engine: Scenario) -> None:
    engine.deploy(caring(None, output="=food", outputs_to="all")).start(food="any")
    command = ActivateAdHocSubProcessActivities(
        tenant_id="default",
        process_instance_key=engine.instance_key,
        ad_hoc_sub_process_instance_key=engine.element("care").key,
        elements=(Activation("feed", {"food": '"fish"', "cup": "1"}), Activation("pet")),
    )

    engine.execute(command)
    feeding = engine.variables(engine.element("feed").scope_key)
    engine.complete("feed", food="meat")

    assert feeding == {"food": "fish", "cup": 1}
    assert engine.variables() == {"food": "any", "all": [None, "meat"]}


def test_callers_may_cancel_what_is_active(engine: Scenario) -> None:
    engine.deploy(caring()).start(active=["feed", "feed"])

    engine.execute(activation(engine, "wash", cancels_remaining=True))
    offered = engine.offered
    engine.complete("wash").complete("dry")

    assert offered == ["wash"]
    assert engine.path.count(INNER) == 1
    assert engine.is_completed


def test_what_is_activated_keeps_it_active_while_the_rest_is_cancelled(engine: Scenario) -> None:
    """The elements that are activated pass at once."""
    engine.deploy(caring()).start(active=["feed"] * 40)

    engine.execute(activation(engine, "pet", cancels_remaining=True))

    assert engine.path.count("pet") == 1
    assert engine.is_completed


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        pytest.param({"tenant_id": "foreign"}, RejectionType.NOT_FOUND, id="of another tenant"),
        pytest.param({"key": 42}, RejectionType.NOT_FOUND, id="unknown"),
        pytest.param({"key": None, "process_instance_key": Key(42)}, RejectionType.NOT_FOUND, id="elsewhere"),
    ],
)
def test_an_ad_hoc_sub_process_that_is_not_there_activates_nothing(
    engine: Scenario, changes: dict[str, Any], kind: RejectionType
) -> None:
    engine.deploy(caring()).start(active=["feed"])
    command = activation(engine, "feed")

    changed = {
        {"key": "ad_hoc_sub_process_instance_key"}.get(name, name): each for name, each in changes.items()
    }
    refusal = engine.refusal(replace(command, **{name: each for name, each in changed.items() if each}))

    assert refusal.type is kind


def test_an_element_of_another_kind_activates_nothing(engine: Scenario) -> None:
    engine.deploy(caring()).start(active=["feed"])

    refusal = engine.refusal(activation(engine, "feed", key=engine.element("feed").key))

    assert refusal.type is RejectionType.NOT_FOUND


@pytest.mark.parametrize(
    ("elements", "kind", "told"),
    [
        pytest.param(["fly", "dry"], RejectionType.NOT_FOUND, "[fly, dry] do not exist", id="unknown"),
        pytest.param(["feed", "feed"], RejectionType.INVALID_ARGUMENT, "duplicate activities", id="twice"),
        pytest.param(["feed", "wash"], RejectionType.INVALID_ARGUMENT, "at most 1 elements", id="too many"),
    ],
)
def test_elements_that_cannot_be_activated_are_refused(
    elements: list[str], kind: RejectionType, told: str
) -> None:
    engine = Scenario(limits=EngineLimits(loop_items=1))
    engine.deploy(caring()).start(active=["feed"])

    refusal = engine.refusal(activation(engine, *elements))

    assert (refusal.type, told in refusal.reason) == (kind, True)


def test_one_that_is_not_active_yet_or_any_more_activates_nothing(engine: Scenario) -> None:
    engine.deploy(caring()).start(active="none")

    refusal = engine.refusal(activation(engine, "feed"))

    assert refusal.type is RejectionType.INVALID_STATE
    assert refusal.reason.endswith("but it is not active.")


def test_one_that_an_event_sub_process_interrupted_activates_nothing(engine: Scenario) -> None:
    help_ = event_sub_process("help").start_timer("late", duration="PT1M")
    scope = inside().beside(help_.service_task("aid", type="aid").end())
    engine.deploy(process("cat").start().embed_ad_hoc(scope, active="=active").end()).start(active=["feed"])
    engine.advance(MINUTE)

    assert engine.refusal(activation(engine, "feed")).type is RejectionType.INVALID_STATE


# Job workers


def worked(**ad_hoc: Any) -> ProcessBuilder:
    return process("cat").start().embed_ad_hoc(inside(), **ad_hoc).job_worker(type="care", retries="2").end()


def decision(*elements: str, **result: Any) -> AdHocSubProcessResult:
    return AdHocSubProcessResult(tuple(map(Activation, elements)), **result)


def decide(engine: Scenario, result: AdHocSubProcessResult | None, **variables: object) -> Scenario:
    """Complete the job of the worker with this result."""
    (job,) = engine.activate("care", most=1)
    engine.execute(CompleteJob("default", job.key, texts(variables), result))
    return engine


def test_its_worker_has_a_job_of_a_kind_of_its_own(engine: Scenario) -> None:
    engine.deploy(worked(outputs_to="all", output="=1")).start(a=1)

    (job,) = engine.activate("care")

    care = engine.element("care")
    assert (job.kind, job.element_id, job.element_instance_key) == ("AD_HOC_SUB_PROCESS", "care", care.key)
    assert (job.retries, job.variables["all"], job.variables["a"]) == (2, "[]", "1")
    assert "adHocSubProcessElements" in job.variables
    (row,) = engine.rows.all(entities.Job)
    assert row.kind == "AD_HOC_SUB_PROCESS"


def test_the_worker_activates_elements_and_is_asked_again_after_each_path(engine: Scenario) -> None:
    engine.deploy(worked(outputs_to="all", output="=did")).start()

    decide(engine, decision("feed", "feed"))
    first = engine.offered
    engine.complete("feed", did="fed")
    second = engine.offered
    (job,) = engine.activate("care")

    assert first == ["feed", "feed"]
    assert second == ["feed", "care"]
    assert job.variables["all"] == '["fed"]'


def test_there_is_one_job_at_a_time(engine: Scenario) -> None:
    engine.deploy(worked()).start()
    decide(engine, decision("feed", "feed"))
    engine.complete("feed")
    (earlier,) = engine.activate("care")

    engine.complete("feed")
    refusal = engine.refusal(CompleteJob("default", earlier.key))

    assert refusal.type is RejectionType.NOT_FOUND
    assert engine.offered == ["care"]


def test_the_worker_says_when_it_is_complete(engine: Scenario) -> None:
    engine.deploy(worked(outputs={"agent": "=agent"})).start()

    decide(engine, decision(is_fulfilled=True), agent="done")

    assert engine.variables() == {"agent": "done"}
    assert engine.is_completed


def test_one_that_is_complete_waits_for_its_paths_without_another_job(engine: Scenario) -> None:
    engine.deploy(worked()).start()
    decide(engine, decision("feed", "feed", "pet"))

    decide(engine, decision(is_fulfilled=True))
    engine.complete("feed")
    before = engine.offered
    engine.complete("feed")

    assert before == ["feed"]
    assert engine.is_completed


def test_one_that_is_complete_may_cancel_its_paths(engine: Scenario) -> None:
    engine.deploy(worked()).start()
    decide(engine, decision("feed", "feed", "pet"))

    decide(engine, decision(is_fulfilled=True, cancels_remaining=True))

    assert engine.path.count(INNER) == 1
    assert engine.is_completed


def test_the_worker_may_cancel_and_activate(engine: Scenario) -> None:
    engine.deploy(worked()).start()
    decide(engine, decision("feed", "pet"))

    decide(engine, decision("wash", cancels_remaining=True))

    assert engine.offered == ["wash"]


@pytest.mark.parametrize("result", [None, decision()])
def test_a_worker_that_decides_nothing_leaves_it_waiting(
    engine: Scenario, result: AdHocSubProcessResult | None
) -> None:
    engine.deploy(worked()).start()

    decide(engine, result)
    engine.execute(activation(engine, "feed"))
    offered = engine.offered
    engine.complete("feed")

    assert offered == ["feed"]
    assert engine.offered == ["care"]


def test_its_variables_change_those_that_it_sees(engine: Scenario) -> None:
    engine.deploy(worked(output="=1", outputs_to="all", inputs={"mine": "=0"})).start(theirs=0)
    decide(engine, decision("pet"), mine=1, theirs=2, new=3)

    decide(engine, decision(), all=[])

    care = engine.element("care").key
    assert engine.variables() == {"theirs": 2, "new": 3}
    assert (engine.variables(care)["mine"], engine.variables(care)["all"]) == (1, [])


@pytest.mark.parametrize(
    ("result", "kind", "told"),
    [
        pytest.param(
            decision("feed", is_fulfilled=True),
            RejectionType.INVALID_ARGUMENT,
            "expected none together",
            id="both",
        ),
        pytest.param(decision("fly"), RejectionType.NOT_FOUND, "[fly] do not exist", id="unknown"),
        pytest.param(
            UserTaskResult(), RejectionType.INVALID_ARGUMENT, "'userTask' is not one", id="other kind"
        ),
    ],
)
def test_a_wrong_decision_is_refused_and_the_job_stays(
    engine: Scenario, result: AdHocSubProcessResult, kind: RejectionType, told: str
) -> None:
    engine.deploy(worked()).start()
    (job,) = engine.activate("care")

    refusal = engine.refusal(CompleteJob("default", job.key, {}, result))

    assert (refusal.type, told in refusal.reason) == (kind, True)
    assert job.key in engine.instance.jobs


def test_a_decision_of_a_job_of_another_kind_is_refused(engine: Scenario) -> None:
    engine.deploy(caring()).start(active=["feed"])
    (job,) = engine.activate("feed")

    assert (
        engine.refusal(CompleteJob("default", job.key, {}, decision())).type is RejectionType.INVALID_ARGUMENT
    )


def test_a_job_without_retries_is_an_incident_of_its_own_type(engine: Scenario) -> None:
    engine.deploy(worked()).start()

    engine.fail("care", message="no model")
    incident = engine.incident
    update = UpdateJob(tenant_id="default", job_key=engine.job("care").key, retries=1)
    engine.execute(update)
    decide(engine.resolve(), decision(is_fulfilled=True))

    assert (incident.error_type, incident.message) == (ErrorType.AD_HOC_SUB_PROCESS_NO_RETRIES, "no model")
    assert engine.is_completed


def test_a_new_job_takes_the_place_of_one_with_an_incident(engine: Scenario) -> None:
    engine.deploy(worked()).start()
    decide(engine, decision("feed", "pet")).fail("care")

    engine.complete("feed")

    assert engine.instance.incidents == {}
    assert engine.offered == ["care"]


def test_a_type_that_fails_after_a_path_is_an_incident_of_the_inner_instance(engine: Scenario) -> None:
    builder = process("cat").start().embed_ad_hoc(inside()).job_worker(type="=kind")
    engine.deploy(builder.end()).start(kind="care")
    decide(engine, decision("feed"))

    engine.complete("feed", kind=None)
    incident = engine.incident
    set_variables(engine, kind="care").resolve()

    assert (incident.error_type, incident.element_id) == (ErrorType.EXTRACT_VALUE_ERROR, INNER)
    assert engine.offered == ["care"]


def test_the_worker_throws_errors_that_its_boundary_catches(engine: Scenario) -> None:
    builder = process("cat").start().embed_ad_hoc(inside()).job_worker(type="care").end("happy")
    engine.deploy(builder.boundary_error("bitten", on="care").end("sad")).start()
    decide(engine, decision("feed", "pet"))
    (job,) = engine.activate("care")

    engine.execute(ThrowJobError(tenant_id="default", job_key=job.key, error_code="bite"))

    assert engine.path[-2:] == ["bitten", "sad"]
    assert engine.is_completed


def test_an_interrupting_event_sub_process_takes_the_job_back(engine: Scenario) -> None:
    help_ = event_sub_process("help").start_timer("late", duration="PT1M")
    scope = inside().beside(help_.service_task("aid", type="aid").end())
    builder = process("cat").start().embed_ad_hoc(scope).job_worker(type="care").end()
    engine.deploy(builder).start().fail("care")

    engine.advance(MINUTE)
    offered = engine.offered
    engine.complete("aid")

    assert offered == ["aid"]
    assert engine.instance_key not in engine.state.instances
    assert engine.is_completed


def test_cancelling_takes_the_job_back(engine: Scenario) -> None:
    engine.deploy(worked()).start()

    engine.cancel()

    assert engine.state.offers == {}
    assert engine.is_terminated


# Migration


def moved(active: str = "=active", **ad_hoc: Any) -> ProcessBuilder:
    """The same as a process of another name, with other ids."""
    builder = (
        ad_hoc_sub_process("nurse").service_task("scrub", type="scrub").service_task("comb", type="comb")
    )
    builder.apart().service_task("nurture", type="nurture")
    return process("dog").start().embed_ad_hoc(builder, active=active, **ad_hoc).end()


MAPPING = {"care": "nurse", "wash": "scrub", "dry": "comb", "feed": "nurture"}


@pytest.mark.parametrize("instruction", [{}, {INNER: "nurse#innerInstance"}])
def test_inner_instances_are_migrated_with_it(engine: Scenario, instruction: dict[str, str]) -> None:
    engine.deploy(moved("=[]"), caring(output="=1", outputs_to="all")).start("cat", active=["wash", "feed"])

    engine.migrate("dog", {**MAPPING, **instruction})
    ids = [each.element_id for each in engine.instance.elements.values()]
    engine.complete("wash").complete("comb").complete("feed")

    assert ids == ["dog", "nurse", "nurse#innerInstance", "nurse#innerInstance", "scrub", "nurture"]
    assert engine.variables() == {"active": ["wash", "feed"]}
    assert engine.is_completed


def test_a_target_may_begin_to_collect_outputs(engine: Scenario) -> None:
    engine.deploy(moved(output="=1", outputs_to="all"), caring()).start("cat", active=["wash", "feed"])

    engine.complete("feed").migrate("dog", MAPPING).complete("wash").complete("comb")

    assert engine.variables()["all"] == [1]
    assert engine.is_completed


def test_the_job_of_its_worker_is_migrated_with_it(engine: Scenario) -> None:
    other = ad_hoc_sub_process("nurse").service_task("nurture", type="nurture")
    target = process("dog").start().embed_ad_hoc(other).job_worker(type="nurse").end()
    engine.deploy(target, worked()).start("cat")

    decide(engine.migrate("dog", {"care": "nurse"}), decision("nurture"))
    engine.complete("nurture")

    assert [(job.type, job.element_id) for job in engine.instance.jobs.values()] == [("nurse", "nurse")]


def test_a_worker_is_not_exchanged_for_a_collection(engine: Scenario) -> None:
    engine.deploy(moved(), worked()).start("cat")

    refusal = engine.refusal(engine.migration("dog", MAPPING))

    assert refusal.type is RejectionType.INVALID_STATE
    assert "are not both done by job workers" in refusal.reason


@pytest.mark.parametrize(
    ("mapping", "told"),
    [
        pytest.param({"wash": "scrub"}, "no mapping instruction for active element 'care'", id="itself"),
        pytest.param({"care": "nurse"}, "no mapping instruction for active element 'wash'", id="inside"),
        pytest.param({**MAPPING, INNER: "nurse"}, f"element '{INNER}' is mapped to 'nurse'", id="elsewhere"),
    ],
)
def test_a_migration_without_a_place_for_something_is_refused(
    engine: Scenario, mapping: dict[str, str], told: str
) -> None:
    engine.deploy(moved(), caring()).start("cat", active=["wash"])

    refusal = engine.refusal(engine.migration("dog", mapping))

    assert refusal.type is RejectionType.INVALID_STATE
    assert told in refusal.reason


# Bounds


@pytest.mark.parametrize("until", [None, "=done"])
def test_ten_thousand_elements_are_activated_in_slices(until: str | None) -> None:
    engine = Scenario()
    active = '=for i in 1..10000 return "pet"'
    ad_hoc = {"until": until, "output": "=1", "outputs_to": "all"} if until else {}
    engine.deploy(caring(active, **ad_hoc))

    engine.start(done=False)

    assert len(engine.last_events) < 4_000
    assert engine.path.count(INNER) == 10_000
    assert engine.is_running is bool(until)


def half_activated(ad_hoc: ProcessBuilder) -> Scenario:
    """An instance whose first command has activated some of 100 elements."""
    engine = Scenario(limits=EngineLimits(slice_steps=4_000))
    engine.deploy(ad_hoc)
    command = CreateProcessInstance(
        tenant_id="default", process_definition_id="cat", variables={"number": "100"}
    )
    engine.happens(process_command(engine.state, command, engine.now).events)
    (engine.instance_key,) = engine.state.instances
    return engine


def test_what_is_still_to_be_activated_is_part_of_the_document() -> None:
    engine = half_activated(caring(FEEDING))

    (left,) = [work for work in engine.instance.work if isinstance(work, ActivateElements)]

    assert len(left.activations) == engine.element("care").ad_hoc.planned > 0
    assert len(inner_instances(engine)) == 100 - len(left.activations)
    assert unpack(pages_of(engine.instance)) == engine.instance


def test_it_does_not_complete_while_elements_are_still_to_be_activated() -> None:
    engine = half_activated(caring(FEEDING))

    for key in list(engine.instance.jobs):
        outcome = process_command(engine.state, CompleteJob("default", key), engine.now)
        engine.happens(outcome.events)
    before = engine.is_running
    for _ in range(100):
        if not engine.is_running:
            break
        engine.execute(ContinueProcessInstance("default", engine.instance_key))
        for job in engine.activate("feed", most=100):
            engine.execute(CompleteJob("default", job.key))

    assert before
    assert engine.path.count(INNER) == 100
    assert engine.is_completed
    engine.expect_laws()


def test_it_can_be_cancelled_between_two_slices() -> None:
    engine = half_activated(caring(FEEDING))

    engine.cancel()

    assert engine.is_terminated
    assert len(engine.happened(ElementTerminated)) < 250
    engine.expect_laws()


FEEDING = '=for i in 1..number return "feed"'
LONG = "x" * 100


def outputs_of(engine: Scenario, size: int) -> list[str]:
    """Let so many inner instances give a long output each, and leave some active."""
    engine.deploy(caring(FEEDING, output="=result", outputs_to="all")).start(number=size + 60)
    for job in engine.activate("feed", most=size):
        engine.execute(CompleteJob("default", job.key, texts({"result": LONG})))
    return [LONG] * size


@pytest.mark.parametrize("size", [10, 60])
def test_outputs_that_are_not_in_the_variable_yet_are_seen(engine: Scenario, size: int) -> None:
    expected = outputs_of(engine, size)
    inner = inner_instances(engine)[0].key

    (job,) = engine.activate("feed", most=1)
    found = find(engine.instance, inner, "all")

    assert msgspec.json.decode(job.variables["all"]) == expected
    assert found is not None
    assert msgspec.json.decode(found[1].value) == expected


def test_a_collection_that_is_set_anew_begins_anew(engine: Scenario) -> None:
    outputs_of(engine, 60)
    kept = len(engine.instance.items)

    for value in ([], [1]):
        (job,) = engine.activate("feed", most=1)
        engine.execute(CompleteJob("default", job.key, texts({"result": 2, "all": value})))

    care = engine.element("care").key
    assert kept
    assert engine.variables(care)["all"] == [1, 2]
    assert engine.instance.items == {}


def test_a_condition_is_told_of_every_output(engine: Scenario) -> None:
    told = event_sub_process("tell").start_condition(
        "enough", condition="=count(all) = 62", is_interrupting=False
    )
    scope = inside().beside(told.service_task("note", type="note").end())
    builder = process("cat").start().embed_ad_hoc(scope, active=FEEDING, output="=result", outputs_to="all")
    engine.deploy(builder.end()).start(number=120)

    for job in engine.activate("feed", most=62):
        engine.execute(CompleteJob("default", job.key, texts({"result": LONG})))

    assert "note" in engine.offered


def test_outputs_are_forgotten_with_the_ad_hoc_sub_process(engine: Scenario) -> None:
    outputs_of(engine, 60)

    engine.cancel()

    assert engine.is_terminated


def test_all_outputs_are_there_at_its_end(engine: Scenario) -> None:
    expected = outputs_of(engine, 60)

    for job in engine.activate("feed", most=60):
        engine.execute(CompleteJob("default", job.key, texts({"result": 1})))

    assert engine.variables()["all"] == [*expected, *[1] * 60]
    assert engine.is_completed


def test_a_migration_to_a_collection_of_another_name_keeps_both_apart(engine: Scenario) -> None:
    engine.deploy(moved(output="=result", outputs_to="new"))
    outputs_of(engine, 60)

    engine.migrate("dog", {"care": "nurse", "feed": "nurture"})
    (job, *_) = engine.activate("feed")
    engine.execute(CompleteJob("default", job.key, texts({"result": 1})))

    nurse = engine.variables(engine.element("nurse").key)
    assert (len(nurse["all"]), nurse["new"]) == (60, [1])


def test_a_completion_writes_the_same_however_many_outputs_there_are() -> None:
    """On average: after some of them the whole variable is written."""
    small, large = (written_by_completions(size) for size in (100, 10_000))

    assert large < 3 * small


def written_by_completions(size: int) -> float:
    """Characters of the variable that are written for each of so many completions."""
    engine = Scenario()
    active = f'=for i in 1..{size} return "pet"'
    engine.deploy(caring(active, until="=done", output=f'="{LONG}"', outputs_to="all")).start(done=False)
    assert engine.path.count(INNER) == size
    updates = [event for event in engine.happened(VariableUpdated) if event.name == "all"]
    return sum(len(event.value) for event in updates) / size
