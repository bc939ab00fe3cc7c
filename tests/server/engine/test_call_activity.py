"""Call activities, rule by rule."""

import msgspec
import pytest

from server.bpmn.builder import ProcessBuilder, event_sub_process, process, sub_process
from server.engine import State, apply, events
from server.engine import process as handle
from server.engine.incidents import ErrorType
from server.engine.job_commands import ThrowJobError
from server.engine.keys import Key, first_key
from server.engine.lifecycle import ElementState
from server.engine.limits import EngineLimits
from server.engine.message_commands import DeliverMessage, SettleMessage
from server.engine.process_instance import ProcessInstance
from server.engine.process_instance_commands import CancelProcessInstance, CreateProcessInstance
from server.engine.rejection import RejectionType
from server.engine.sent import CommandSent
from server.store import entities
from tests.server.engine.scenario import MINUTE, Scenario, texts


def called(*, process_id: str = "pay") -> ProcessBuilder:
    """A process that waits for a worker."""
    return process(process_id).start().service_task("charge", type="charge").end()


def tagged(tag: str, task: str = "charge") -> ProcessBuilder:
    return process("pay", version_tag=tag).start().service_task(task, type="charge").end()


def calling(process_id: str = "pay", /, **attributes: object) -> ProcessBuilder:
    """A process that calls another one, and then waits for a worker."""
    builder = process("order").start().call_activity("call", process=process_id, **attributes)  # type: ignore[arg-type]
    return builder.service_task("ship", type="ship").end()


def instances_of(engine: Scenario, process_id: str) -> list[ProcessInstance]:
    """The live process instances of a process, the oldest first."""
    found = engine.state.instances.values()
    return sorted((each for each in found if each.head.process_definition_id == process_id), key=_key)


def _key(instance: ProcessInstance) -> Key:
    return instance.head.key


def the_call(engine: Scenario, process_id: str = "pay") -> ProcessInstance:
    """The one live process instance of a process."""
    (instance,) = instances_of(engine, process_id)
    return instance


def started(engine: Scenario, *processes: ProcessBuilder, **variables: object) -> Scenario:
    """Deploy these, with the one to start first."""
    engine.deploy(*processes).start(**variables)
    return engine


# The called process instance


def test_a_call_activity_starts_an_instance_of_the_process_and_waits(engine: Scenario) -> None:
    started(engine, calling(), called())

    call = engine.element("call")
    assert call.state is ElementState.ACTIVATED
    assert call.called_key == the_call(engine).head.key
    assert [job.type for job in the_call(engine).jobs.values()] == ["charge"]


def test_the_called_process_instance_knows_its_parents(engine: Scenario) -> None:
    started(engine, calling(), called())

    caller = the_call(engine).head.caller
    assert caller == events.Caller(engine.instance_key, engine.element("call").key, engine.instance_key, 1)


def test_the_root_of_a_called_process_instance_is_the_first_that_called(engine: Scenario) -> None:
    middle = process("middle").start().call_activity("further", process="pay").end()

    started(engine, calling("middle"), middle, called())

    caller = the_call(engine).head.caller
    assert caller is not None
    assert caller.process_instance_key == the_call(engine, "middle").head.key
    assert (caller.root_process_instance_key, caller.depth) == (engine.instance_key, 2)


def test_the_call_activity_completes_with_the_called_process_instance(engine: Scenario) -> None:
    started(engine, calling(), called())

    engine.complete("charge")

    assert instances_of(engine, "pay") == []
    assert engine.offered == ["ship"]
    engine.complete("ship")
    assert engine.is_completed


def test_a_called_process_without_a_wait_state_completes_at_once(engine: Scenario) -> None:
    started(engine, calling(), process("pay").start().task("pass").end())

    assert engine.offered == ["ship"]


def test_an_expression_names_the_process(engine: Scenario) -> None:
    started(engine, calling("=which"), called(), called(process_id="other"), which="other")

    assert instances_of(engine, "pay") == []
    assert len(instances_of(engine, "other")) == 1


def test_the_latest_version_is_called(engine: Scenario) -> None:
    engine.deploy(called()).deploy(process("pay").start().service_task("charge", type="new").end())

    started(engine, calling())

    assert the_call(engine).head.version == 2


def test_the_business_id_goes_to_the_called_process_instance_and_tags_stay(engine: Scenario) -> None:
    engine.deploy(calling(), called())

    engine.execute(
        CreateProcessInstance(
            tenant_id=engine.tenant_id, process_definition_id="order", business_id="b-1", tags=("new",)
        )
    )

    assert (the_call(engine).head.business_id, the_call(engine).head.tags) == ("b-1", ())


def test_the_called_process_instance_belongs_to_the_tenant_of_its_caller(engine: Scenario) -> None:
    engine.tenant_id = "other"

    started(engine, calling(), called())

    assert the_call(engine).head.tenant_id == "other"


@pytest.mark.parametrize(("binding", "version"), [("latest", 3), ("deployment", 2)])
def test_the_binding_says_which_version_is_called(engine: Scenario, binding: str, version: int) -> None:
    engine.deploy(tagged("one")).deploy(calling(binding=binding), tagged("two")).deploy(tagged("three"))

    engine.start("order")

    assert the_call(engine).head.version == version


def test_a_process_bound_to_its_deployment_is_not_found_when_it_is_deployed_later(engine: Scenario) -> None:
    engine.deploy(calling(binding="deployment")).deploy(called())

    engine.start("order")

    assert engine.incident.error_type is ErrorType.CALLED_ELEMENT_ERROR
    assert "with binding type 'deployment'" in engine.incident.message


def test_a_process_that_was_deployed_before_is_not_bound_to_the_deployment(engine: Scenario) -> None:
    engine.deploy(called()).deploy(calling(binding="deployment"))

    engine.start("order")

    deployment_key = engine.state.definition_of(engine.instance).deployment_key
    assert engine.incident.error_type is ErrorType.CALLED_ELEMENT_ERROR
    assert engine.incident.message == (
        "Expected to call process with BPMN process id 'pay' with binding type 'deployment', but no such process found"
        f" in the deployment with key {deployment_key} which contained the current process. To resolve this incident,"
        " migrate the process instance to a process definition that is deployed together with the intended process to"
        " call."
    )


def test_an_unchanged_process_gets_a_version_beside_a_caller_that_is_bound_to_its_deployment(
    engine: Scenario,
) -> None:
    engine.deploy(called()).deploy(calling(binding="deployment"), called())

    engine.start("order")
    first = the_call(engine).head.version
    engine.cancel()
    engine.deploy(calling(binding="deployment"), called()).start("order")

    assert (first, the_call(engine).head.version) == (2, 2)


def test_a_process_with_a_bound_call_gets_a_new_version_with_what_it_calls(engine: Scenario) -> None:
    engine.deploy(calling(binding="deployment"), tagged("one"))

    engine.deploy(calling(binding="deployment"), tagged("two"))

    engine.start("order")
    assert (engine.instance.head.version, the_call(engine).head.version) == (2, 2)


def test_the_latest_version_with_the_tag_is_called(engine: Scenario) -> None:
    for task in ("a", "b", "c"):
        engine.deploy(tagged("stable" if task != "c" else "next", task))
    engine.deploy(calling(binding="versionTag", version_tag="stable"))

    engine.start("order")

    assert the_call(engine).head.version == 2


def test_a_tag_that_no_version_has_is_an_incident(engine: Scenario) -> None:
    engine.deploy(tagged("stable"), calling(binding="versionTag", version_tag="unknown"))

    engine.start("order")

    assert engine.incident.error_type is ErrorType.CALLED_ELEMENT_ERROR
    assert "and version tag 'unknown'" in engine.incident.message


def test_definitions_of_the_first_format_have_the_tags_of_their_files() -> None:
    engine = Scenario()
    engine.deploy(tagged("stable"))
    deployed = next(each for each in engine.events if isinstance(each, events.ProcessDefinitionDeployed))
    state = State()

    apply(state, msgspec.structs.replace(deployed, version_tag=msgspec.UNSET))

    assert state.tagged == engine.state.tagged


def test_a_process_that_begins_with_messages_alone_cannot_be_called(engine: Scenario) -> None:
    inner = process("pay").start_message("paid", message="paid", key="=1").task("pass").end()

    started(engine, calling(), inner)

    assert engine.incident.error_type is ErrorType.CALLED_ELEMENT_ERROR
    assert "to have a none start event" in engine.incident.message


def test_rows_name_the_parents_and_the_root(engine: Scenario) -> None:
    started(engine, calling(), called())

    key, call = the_call(engine).head.key, engine.element("call")
    row = engine.rows.get(entities.ProcessInstance, key)
    assert (row.parent_process_instance_key, row.parent_element_instance_key) == (
        engine.instance_key,
        call.key,
    )
    (job,) = engine.rows.all(entities.Job)
    (task,) = [row for row in engine.rows.all(entities.ElementInstance) if row.element_id == "charge"]
    first = engine.rows.get(entities.ProcessInstance, engine.instance_key)
    assert {each.root_process_instance_key for each in (row, job, task, first)} == {engine.instance_key}
    assert first.parent_process_instance_key is None


# Variables


def test_the_called_process_instance_gets_all_variables_that_the_call_activity_sees(engine: Scenario) -> None:
    started(engine, calling(inputs={"amount": "=total * 2"}), called(), total=5, to="me")

    assert engine.variables(the_call(engine).head.key) == {"total": 5, "to": "me", "amount": 10}


def test_without_propagation_it_gets_what_the_input_mappings_make_alone(engine: Scenario) -> None:
    started(engine, calling(inputs={"amount": "=total * 2"}, parent_variables=False), called(), total=5)

    assert engine.variables(the_call(engine).head.key) == {"amount": 10}


def test_without_propagation_and_input_mappings_it_gets_nothing(engine: Scenario) -> None:
    repeated = process("order").start().call_activity("call", process="pay", parent_variables=False)

    started(engine, repeated.multi_instance("=[1]", element="item").end(), called(), total=5)

    assert engine.variables(the_call(engine).head.key) == {}


def test_variables_of_scopes_around_the_call_activity_are_hidden_by_inner_ones(engine: Scenario) -> None:
    inside = sub_process("inside").start().call_activity("call", process="pay").end()
    around = process("order").start().embed(inside, inputs={"x": '="inner"'}).end()

    started(engine, around, called(), x="outer", y=1)

    assert engine.variables(the_call(engine).head.key) == {"x": "inner", "y": 1}


def test_all_variables_of_the_called_process_instance_come_back(engine: Scenario) -> None:
    started(engine, calling(), called(), total=5)

    engine.complete("charge", total=6, receipt="r-1")

    assert engine.variables() == {"total": 6, "receipt": "r-1"}


def test_without_propagation_none_comes_back(engine: Scenario) -> None:
    started(engine, calling(child_variables=False), called(), total=5)

    engine.complete("charge", total=6, receipt="r-1")

    assert engine.variables() == {"total": 5}


@pytest.mark.parametrize("child_variables", [True, False])
def test_output_mappings_decide_what_comes_back(engine: Scenario, child_variables: bool) -> None:  # noqa: FBT001
    started(
        engine, calling(outputs={"proof": "=receipt"}, child_variables=child_variables), called(), total=5
    )
    key = engine.element("call").key

    engine.complete("charge", total=6, receipt="r-1")

    assert engine.variables() == {"total": 5, "proof": "r-1"}
    assert engine.variables(key) == {"total": 6, "receipt": "r-1"}


def test_local_variables_of_the_called_process_instance_stay_there(engine: Scenario) -> None:
    inner = process("pay").start().service_task("charge", type="charge", inputs={"own": "=1"}).end()
    started(engine, calling(), inner)

    engine.complete("charge", shared=2)

    assert engine.variables() == {"shared": 2}


def test_output_mappings_that_fail_are_tried_again_with_what_came_back(engine: Scenario) -> None:
    started(engine, calling(outputs={"proof": '=assert(ok, ok, "not ok")'}), called(), ok=False)
    engine.complete("charge", ok="no")
    assert engine.incident.error_type is ErrorType.IO_MAPPING_ERROR
    assert engine.element("call").called_key is None

    engine.resolve()

    assert engine.incident.error_type is ErrorType.IO_MAPPING_ERROR
    engine.cancel()
    assert engine.is_terminated


# Calls that fail


def test_an_unknown_process_is_an_incident_until_it_is_deployed(engine: Scenario) -> None:
    started(engine, calling())
    assert engine.incident.error_type is ErrorType.CALLED_ELEMENT_ERROR
    assert (
        engine.incident.message
        == "Expected process with BPMN process id 'pay' to be deployed, but not found."
    )
    assert engine.element("call").state is ElementState.ACTIVATING

    engine.deploy(called()).resolve()

    assert len(instances_of(engine, "pay")) == 1


def test_a_process_of_another_tenant_is_unknown(engine: Scenario) -> None:
    engine.deploy(calling())
    engine.tenant_id = "other"
    engine.deploy(called())
    engine.tenant_id = "default"

    engine.start("order")

    assert engine.incident.error_type is ErrorType.CALLED_ELEMENT_ERROR


def test_an_expression_that_gives_no_text_is_an_incident(engine: Scenario) -> None:
    started(engine, calling("=which"), called(), which=1)

    assert engine.incident.error_type is ErrorType.EXTRACT_VALUE_ERROR
    assert "STRING" in engine.incident.message


def test_a_call_that_is_too_deep_is_an_incident() -> None:
    engine = Scenario(limits=EngineLimits(call_depth=3))

    engine.deploy(process("order").start().call_activity("call", process='="order"').end()).start()

    depths = [each.head.caller.depth if each.head.caller else 0 for each in instances_of(engine, "order")]
    assert depths == [0, 1, 2, 3]
    assert engine.incident.error_type is ErrorType.CALLED_ELEMENT_ERROR
    assert "maximum depth of 3" in engine.incident.message
    engine.expect_laws()


def test_a_process_that_calls_itself_ends_in_an_incident_and_can_be_cancelled() -> None:
    engine = Scenario()

    engine.deploy(process("order").start().call_activity("call", process='="order"').end()).start()

    assert len(engine.state.instances) == 1001
    assert "maximum depth of 1000" in engine.incident.message
    first = min(engine.state.instances)
    engine.execute(CancelProcessInstance(engine.tenant_id, first))
    assert engine.state.instances == {}
    engine.expect_laws()


def test_a_long_chain_of_calls_returns_step_by_step() -> None:
    engine = Scenario()
    recursive = process("order").start().exclusive_gateway("deep")
    recursive.flow(condition="=depth > 0").call_activity(
        "call", process="order", inputs={"depth": "=depth - 1"}
    )
    recursive.end().branch("deep").flow(default=True).service_task("charge", type="charge").end()
    engine.deploy(recursive).start(depth=900)
    assert len(engine.state.instances) == 901

    engine.complete("charge")

    assert engine.state.instances == {}
    engine.expect_laws()


# The end


def test_cancelling_the_process_instance_terminates_what_it_called_first(engine: Scenario) -> None:
    started(engine, calling(), called())
    key = the_call(engine).head.key

    engine.cancel()

    assert engine.is_terminated
    assert engine.state.instances == {}
    ended = [event.key for event in engine.events if isinstance(event, events.ElementTerminated)]
    assert ended[-2:] == [ended[-2], engine.instance_key]
    assert ended.index(key) < ended.index(engine.instance_key)


def test_a_called_process_instance_is_cancelled_with_its_root_alone(engine: Scenario) -> None:
    started(engine, calling(), called())
    key = the_call(engine).head.key

    refusal = engine.refusal(CancelProcessInstance(engine.tenant_id, key))

    assert refusal.type is RejectionType.INVALID_STATE
    assert f"cancel the root process instance {engine.instance_key}" in refusal.reason


def called_and_waiting() -> tuple[ProcessBuilder, ProcessBuilder]:
    """A caller with a user task whose listener keeps it terminating, and a called process that waits for a message."""
    caller = process("caller").parallel_gateway("split").call_activity("call", process="called").end()
    caller.branch("split").user_task("ask").task_listener("canceling", type="listen").end()
    return caller, process("called").message_catch("wait", message="paid", key="=id").end("done")


def test_a_message_reaches_no_called_process_instance_whose_caller_terminates(engine: Scenario) -> None:
    """The caller waits for its listener, the called process instance has ended before."""
    engine.deploy(*called_and_waiting()).start("caller", id="a").cancel()
    assert engine.is_running

    engine.publish("paid", "a", lives=MINUTE)

    assert "done" not in {
        event.element_id for event in engine.events if isinstance(event, events.ElementActivating)
    }
    assert engine.state.messages.subscriptions == {}
    assert len(engine.state.messages.messages) == 1
    engine.complete("listen")
    assert engine.is_terminated
    assert engine.state.instances == {}


def test_a_message_on_its_way_to_a_called_process_instance_comes_too_late(engine: Scenario) -> None:
    """It is delivered after the caller has begun to terminate, so nothing is taken, and another one gets it."""
    engine.deploy(*called_and_waiting()).start("caller", id="a")
    (subscription,) = engine.state.messages.subscriptions.values()
    engine.cancel()

    deliver = DeliverMessage("default", Key(first_key(2) + 1), subscription.key, {})
    happened = handle(engine.state, deliver, engine.now).events

    settled = SettleMessage("default", deliver.message_key, subscription.key, is_taken=False)
    assert happened == [CommandSent(2, settled)]
    assert engine.complete("listen").is_terminated


def test_an_incident_in_the_called_process_instance_ends_with_it(engine: Scenario) -> None:
    started(engine, calling(), called())
    engine.fail("charge")

    engine.cancel()

    assert engine.state.owners == {}


def test_a_boundary_event_terminates_the_called_process_instance(engine: Scenario) -> None:
    late = (
        calling().boundary_timer("late", on="call", duration="PT1M").service_task("tell", type="tell").end()
    )
    started(engine, late, called())

    engine.advance(2 * MINUTE)

    assert instances_of(engine, "pay") == []
    assert engine.offered == ["tell"]


def test_a_terminate_end_event_terminates_the_called_process_instance(engine: Scenario) -> None:
    around = process("order").start().parallel_gateway("all").call_activity("call", process="pay").end()
    around.branch("all").service_task("stop", type="stop").end_terminate("over")
    started(engine, around, called())

    engine.complete("stop")

    assert engine.is_completed
    assert engine.state.instances == {}


# Errors and escalations


def refusing() -> ProcessBuilder:
    """A process that throws an error."""
    return process("pay").start().end_error("refused", error="declined").declare_error("declined", "DECLINED")


def asking() -> ProcessBuilder:
    """A process that escalates and goes on."""
    builder = process("pay").start().throw_escalation("ask", escalation="late")
    return builder.service_task("charge", type="charge").end().declare_escalation("late", "LATE")


def test_an_error_that_the_called_process_does_not_catch_goes_on_at_the_call_activity(
    engine: Scenario,
) -> None:
    around = calling().boundary_error("failed", on="call", error="declined").service_task("tell", type="tell")
    around.end().declare_error("declined", "DECLINED")

    started(engine, around, refusing(), reason="old")

    assert instances_of(engine, "pay") == []
    assert engine.offered == ["tell"]
    assert engine.variables() == {"reason": "old"}


def test_an_error_of_a_job_goes_on_at_the_call_activity_with_its_variables(engine: Scenario) -> None:
    event = calling().boundary_error("failed", on="call", outputs={"why": "=reason"})
    started(engine, event.service_task("tell", type="tell").end(), called())
    (job,) = engine.activate("charge")

    engine.execute(
        ThrowJobError(
            tenant_id=engine.tenant_id, job_key=job.key, error_code="X", variables=texts({"reason": "poor"})
        )
    )

    assert engine.offered == ["tell"]
    assert engine.variables() == {"why": "poor"}


def test_an_error_goes_out_of_several_calls(engine: Scenario) -> None:
    middle = process("middle").start().call_activity("further", process="pay").end()
    around = calling("middle").boundary_error("failed", on="call").service_task("tell", type="tell").end()

    started(engine, around, middle, refusing())

    assert engine.offered == ["tell"]
    assert list(engine.state.instances) == [engine.instance_key]


def test_an_event_sub_process_around_the_call_activity_catches_the_error(engine: Scenario) -> None:
    help_ = event_sub_process("help").start_error("help_start").service_task("tell", type="tell").end()

    started(engine, calling().beside(help_), refusing())

    assert engine.offered == ["tell"]
    engine.complete("tell")
    assert engine.is_completed


def test_an_error_that_nothing_catches_is_an_incident_where_it_was_thrown(engine: Scenario) -> None:
    started(engine, calling(), refusing())

    assert engine.incident.error_type is ErrorType.UNHANDLED_ERROR_EVENT
    assert engine.incident.instance.key == the_call(engine).head.key


def test_an_escalation_goes_on_at_the_call_activity_and_the_called_process_too(engine: Scenario) -> None:
    around = calling().boundary_escalation("asked", on="call", is_interrupting=False)
    started(engine, around.service_task("tell", type="tell").end(), asking())
    assert engine.offered == ["tell"]

    engine.complete("tell").complete("charge").complete("ship")

    assert engine.is_completed


def test_an_escalation_that_interrupts_terminates_the_called_process_instance(engine: Scenario) -> None:
    around = calling().boundary_escalation("asked", on="call").service_task("tell", type="tell").end()

    started(engine, around, asking())

    assert instances_of(engine, "pay") == []
    assert engine.offered == ["tell"]


# With others


def test_a_call_activity_is_repeated(engine: Scenario) -> None:
    builder = process("order").start().call_activity("call", process="pay")
    builder.multi_instance("=items", element="item", output="=receipt", outputs_to="receipts").end()
    inner = process("pay").start().script_task("charge", expression="=item * 2", result="receipt").end()

    started(engine, builder, inner, items=[1, 2, 3])

    assert engine.is_completed
    assert engine.variables()["receipts"] == [2, 4, 6]


def test_a_completion_condition_terminates_the_other_calls(engine: Scenario) -> None:
    builder = process("order").start().call_activity("call", process="pay")
    builder.multi_instance("=items", until="=numberOfCompletedInstances = 1").end()
    started(engine, builder, called(), items=[1, 2, 3])

    engine.complete("charge")

    assert engine.is_completed
    assert engine.state.instances == {}


def test_listeners_come_before_and_after_the_call(engine: Scenario) -> None:
    builder = process("order").start().call_activity("call", process="pay", outputs={"x": "=y"})
    builder.execution_listener("start", type="before").execution_listener("end", type="after").end()
    started(engine, builder, called())
    assert instances_of(engine, "pay") == []

    engine.complete("before", amount=1)
    assert engine.variables(the_call(engine).head.key) == {"amount": 1}
    engine.complete("charge", y=2)
    assert engine.offered == ["call"]
    engine.complete("after")

    assert engine.is_completed
    assert engine.variables() == {"x": 2}


def test_many_calls_are_begun_and_ended_in_slices() -> None:
    engine = Scenario(limits=EngineLimits(slice_steps=5_000))
    builder = process("order").start().call_activity("call", process="pay").multi_instance("=items").end()
    started(engine, builder, called(), items=list(range(200)))
    assert len(engine.state.instances) == 201

    engine.cancel()

    assert len(engine.last_events) < 150
    assert engine.state.instances == {}
    engine.expect_laws()


def test_variables_that_are_copied_take_their_part_of_a_slice() -> None:
    engine = Scenario(limits=EngineLimits(slice_steps=5_000))
    builder = process("order").start().call_activity("call", process="pay").multi_instance("=items").end()

    started(engine, builder, called(), items=list(range(20)), **{f"v{number}": 1 for number in range(400)})

    assert sum(isinstance(each, events.ProcessCalled) for each in engine.last_events) == 1
    assert len(instances_of(engine, "pay")) == 20


# Migration


def test_a_call_activity_is_migrated_and_what_it_called_stays(engine: Scenario) -> None:
    other = process("other").start().call_activity("invoke", process="pay")
    started(engine, calling(), called(), other.service_task("send", type="send").end())
    before = the_call(engine).head

    engine.migrate("other", {"call": "invoke"})

    assert the_call(engine).head == before
    engine.complete("charge")
    assert engine.offered == ["send"]


def test_a_called_process_instance_is_migrated_and_returns_to_its_caller(engine: Scenario) -> None:
    started(engine, calling(), called(), called(process_id="other"))
    root, engine.instance_key = engine.instance_key, the_call(engine).head.key
    caller = engine.instance.head.caller

    engine.migrate("other", {"charge": "charge"})

    assert engine.instance.head.caller == caller
    engine.complete("charge")
    engine.instance_key = root
    assert engine.offered == ["ship"]
