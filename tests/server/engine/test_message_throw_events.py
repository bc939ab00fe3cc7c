import pytest

from server.bpmn.builder import ProcessBuilder, event_sub_process, process, sub_process
from server.bpmn.executable import ElementType
from server.engine import events, job_commands, process_instance_commands
from server.engine.incidents import ErrorType
from server.engine.job_kinds import JobKind
from server.engine.lifecycle import ElementState
from server.engine.message_events import MessagePublished
from server.engine.rejection import RejectionType
from tests.server.engine.scenario import Scenario


def sending(*, is_end: bool = False) -> ProcessBuilder:
    """A process with an event whose message a worker sends."""
    builder = process("order").start()
    if is_end:
        return builder.end_message("send", type="mail")
    return builder.throw_message("send", type="mail").end("done")


@pytest.mark.parametrize("is_end", [True, False])
def test_a_worker_sends_the_message_and_the_event_waits(engine: Scenario, *, is_end: bool) -> None:
    engine.deploy(sending(is_end=is_end)).start()

    job, element = engine.job("mail"), engine.element("send")
    assert (job.element_id, job.kind, job.retries) == ("send", JobKind.BPMN_ELEMENT, 3)
    assert element.state is ElementState.ACTIVATED
    assert element.type is (ElementType.END_EVENT if is_end else ElementType.INTERMEDIATE_THROW_EVENT)

    engine.complete("mail", id=7)

    assert engine.path == (["start", "send"] if is_end else ["start", "send", "done"])
    assert engine.variables() == {"id": 7}
    assert engine.is_completed


@pytest.mark.parametrize("is_end", [True, False])
def test_an_event_with_a_message_publishes_nothing_itself(engine: Scenario, *, is_end: bool) -> None:
    receiver = process("other").message_catch("wait", message="mail", key='="a"').end()
    engine.deploy(sending(is_end=is_end), receiver).start("other")
    waiting = engine.instance_key

    engine.start("order").complete("mail")

    assert engine.is_completed
    assert engine.state.instances.keys() == {waiting}
    assert not any(isinstance(event, MessagePublished) for event in engine.events)


def test_its_job_is_described_as_that_of_a_service_task(engine: Scenario) -> None:
    event = process("order").throw_message(
        "send",
        type='="mail-" + kind',
        retries="=n",
        headers={"to": "ann"},
        inputs={"kind": "=channel", "n": "=5"},
        outputs={"sent": "=id"},
    )
    engine.deploy(event.end()).start(channel="fast")

    (job,) = engine.activate("mail-fast")
    assert (job.headers, job.retries) == ({"to": "ann"}, 5)
    engine.execute(job_commands.CompleteJob("default", job.key, {"id": "7", "more": "1"}))

    assert engine.variables() == {"channel": "fast", "sent": 7}
    assert engine.is_completed


def test_a_message_that_nobody_can_send_is_an_incident(engine: Scenario) -> None:
    engine.deploy(sending()).start().fail("mail", message="no network")
    assert (engine.incident.error_type, engine.incident.element_id) == (ErrorType.JOB_NO_RETRIES, "send")

    engine.execute(job_commands.UpdateJob(tenant_id="default", job_key=engine.job("mail").key, retries=1))
    engine.resolve().complete("mail")

    assert engine.is_completed


def test_a_job_type_that_is_no_text_is_an_incident_until_it_is_one(engine: Scenario) -> None:
    engine.deploy(process("order").throw_message("send", type="=kind").end()).start(kind=1)
    assert engine.incident.error_type is ErrorType.EXTRACT_VALUE_ERROR

    engine.execute(
        process_instance_commands.SetVariables(
            tenant_id="default",
            process_instance_key=engine.instance_key,
            element_instance_key=engine.instance_key,
            variables={"kind": '"mail"'},
            is_local=False,
        )
    )

    assert engine.resolve().offered == ["send"]


@pytest.mark.parametrize("is_end", [True, False])
def test_an_error_of_the_worker_is_caught_around_the_event(engine: Scenario, *, is_end: bool) -> None:
    inside = sub_process("pack").start()
    inside = (
        inside.end_message("send", type="mail") if is_end else inside.throw_message("send", type="mail").end()
    )
    engine.deploy(
        process("order").start().embed(inside).end("sent").boundary_error("lost", on="pack").end("not sent")
    ).start()

    engine.execute(
        job_commands.ThrowJobError(tenant_id="default", job_key=engine.job("mail").key, error_code="bounced")
    )

    assert engine.path == ["start", "pack_start", "lost", "not sent"]
    assert engine.is_completed


def test_an_error_that_nothing_catches_is_an_incident(engine: Scenario) -> None:
    engine.deploy(sending()).start()

    engine.execute(
        job_commands.ThrowJobError(tenant_id="default", job_key=engine.job("mail").key, error_code="bounced")
    )

    assert engine.incident.error_type is ErrorType.UNHANDLED_ERROR_EVENT


@pytest.mark.parametrize("is_end", [True, False])
def test_its_listeners_have_their_jobs_before_and_after_that_of_the_message(
    engine: Scenario, *, is_end: bool
) -> None:
    builder = process("order").start()
    builder = (
        builder.end_message("send", type="mail") if is_end else builder.throw_message("send", type="mail")
    )
    builder.execution_listener("start", type="before").execution_listener("end", type="after")
    engine.deploy(builder if is_end else builder.end()).start()

    engine.complete("before").complete("mail").complete("after")

    created = [event.type for event in engine.happened(events.JobCreated)]
    assert created == ["before", "mail", "after"]
    assert engine.is_completed


def test_what_ends_the_scope_cancels_the_job(engine: Scenario) -> None:
    stop = event_sub_process("stop").start_signal("begin", signal="stop").end("stopped")
    engine.deploy(sending().beside(stop)).start()

    engine.broadcast("stop")

    assert len(engine.happened(events.JobCanceled)) == 1
    assert engine.path[-2:] == ["stopped", "stop"]
    assert engine.is_completed


def test_an_end_event_with_a_message_leaves_the_rest_of_its_scope_alone(engine: Scenario) -> None:
    fork = process("order").parallel_gateway("fork").end_message("send", type="mail")
    engine.deploy(fork.branch("fork").service_task("ship", type="ship").end()).start()

    engine.complete("mail")
    assert engine.offered == ["ship"]

    assert engine.complete("ship").is_completed


def test_a_loop_through_the_event_is_no_endless_one(engine: Scenario) -> None:
    loop = process("order").exclusive_gateway("again").throw_message("send", type="mail")
    engine.deploy(loop.exclusive_gateway("enough").flow(default=True).connect_to("again")
                  .branch("enough").flow(condition="=n = 2").end())  # fmt: skip

    engine.start().complete("mail", n=1).complete("mail", n=2)

    assert engine.is_completed


def test_an_active_throwing_event_is_not_migrated(engine: Scenario) -> None:
    engine.deploy(sending()).start()

    refusal = engine.refusal(engine.migration("order", {"send": "send"}))

    assert refusal.type is RejectionType.INVALID_STATE
    assert "'send' is a INTERMEDIATE_THROW_EVENT, which is not supported" in refusal.reason
