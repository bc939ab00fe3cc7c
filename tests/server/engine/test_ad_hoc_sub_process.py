"""Ad-hoc sub-processes (BPMN 2.0.2 §13.3.5)."""

from typing import Any

import pytest

from server.bpmn.builder import ProcessBuilder, ad_hoc_sub_process, event_sub_process, process, sub_process
from server.engine.commands import SetVariables, ThrowJobError
from server.engine.incidents import ErrorType
from server.engine.lifecycle import ElementState
from server.engine.limits import EngineLimits
from server.engine.process_instance import ElementInstance
from server.engine.rejection import RejectionType
from server.store import entities
from tests.server.engine.scenario import MINUTE, Scenario, texts

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
