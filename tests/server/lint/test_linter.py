from collections.abc import Callable, Mapping

import pytest

from server.bpmn.builder import (
    ProcessBuilder,
    ad_hoc_sub_process,
    definitions,
    event_sub_process,
    process,
    sub_process,
)
from server.bpmn.reader import BpmnReadError, read
from server.lint.catalogue import etag
from server.lint.linter import MOST_TOLD, describe, lint, refusals, unreadable


def test_a_clean_process_has_no_findings() -> None:
    xml = process("order").start().service_task("charge", type="charge").end().to_xml()

    assert lint(read(xml)) == ()


def test_paths_of_an_ad_hoc_sub_process_begin_and_end_anywhere() -> None:
    inside = ad_hoc_sub_process("care").task("wash").task("dry").apart().task("feed")

    assert lint(read(process("cat").start().embed_ad_hoc(inside).end().to_xml())) == ()


def test_a_refusal_names_every_rule_and_element() -> None:
    xml = (
        process("order").start()
        .service_task("charge", type="", retries="= (")
        .node("transaction", "book")
        .end().to_xml()
    )  # fmt: skip

    text = describe(lint(read(xml)), "order.bpmn")

    lines = text.splitlines()
    assert lines[0] == "'order.bpmn':"
    assert [line.split(" (line")[0] for line in lines if line.startswith("- ")] == [
        "- Element: charge",
        "- Element: book",
    ]
    assert [line.rsplit(" ", 1)[1] for line in lines if "ERROR" in line] == [
        "[job-type]",
        "[job-type-expression]",
        "[element-type]",
    ]


def test_a_refusal_has_an_end() -> None:
    builder = process("order").start()
    for number in range(MOST_TOLD + 7):
        builder = builder.service_task(f"t{number}", type="")

    lines = describe(lint(read(builder.end().to_xml())), "order.bpmn").splitlines()

    assert len([line for line in lines if "ERROR" in line]) == MOST_TOLD
    assert lines[-1] == "- and 7 more"


def test_an_element_without_id_is_named_by_its_line() -> None:
    xml = process("order").start("begin").to_xml().replace(b' id="begin"', b"")

    assert "- Element: without id (line 4)" in describe(lint(read(xml)), "order.bpmn")


def test_warnings_are_no_part_of_a_refusal() -> None:
    findings = lint(read(process("order").task("pack").to_xml()))

    assert findings
    assert refusals(findings) == ()
    assert describe(findings, "order.bpmn") == "'order.bpmn':"


def test_a_process_that_is_only_drawn_may_be_anything() -> None:
    drawn = b'<process id="drawn"><transaction/><sequenceFlow id="f"/></process></definitions>'
    xml = (
        b'<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL">'
        b'<process id="order" isExecutable="true"><startEvent id="begin"/></process>' + drawn
    )

    assert refusals(lint(read(xml))) == ()


def test_a_file_that_cannot_be_read_is_a_finding_like_any_other() -> None:
    finding = unreadable(BpmnReadError("expected XML, found nothing", 3))

    assert (finding.rule_id, finding.line, finding.refuses) == ("xml-well-formed", 3, True)
    assert "[xml-well-formed]" in describe([finding], "order.bpmn")


@pytest.mark.parametrize(
    ("timer", "rules"),
    [
        ({"date": "2030-01-01T08:00:00Z"}, []),
        ({"cycle": "R/PT1H"}, []),
        ({"cycle": '="R/" + string(duration("PT1H"))'}, []),
        ({"duration": "PT1H"}, ["timer-kind-allowed"]),
        ({"cycle": "0 0 9 * * MON-FRI"}, []),
        ({"cycle": "@daily"}, []),
        ({"cycle": "0 0 9 * *"}, ["timer-expression"]),
        ({"cycle": '="PT1H"'}, ["timer-start-constant"]),
        ({"cycle": '="@never"'}, ["timer-start-constant"]),
        ({"date": "=(for n in 1..1000000 return n)[1]"}, ["timer-start-constant"]),
    ],
)
def test_a_process_begins_at_a_date_or_by_a_cycle(timer: dict[str, str], rules: list[str]) -> None:
    """An expression that takes too long is refused like one that gives something else."""
    findings = lint(read(process("order").start_timer("begin", **timer).end().to_xml()))

    assert [finding.rule_id for finding in findings] == rules


def test_a_message_that_starts_a_process_needs_no_correlation_key_until_it_is_caught_too() -> None:
    started = process("order").start_message("begin", message="ordered").end().to_xml()
    assert lint(read(started)) == ()

    caught = process("order").start_message("begin", message="ordered")
    caught = caught.message_catch("wait", message="paid", key="=id").end()
    shared = caught.to_xml().replace(b'messageRef="order_wait_message"', b'messageRef="order_begin_message"')
    assert [finding.rule_id for finding in refusals(lint(read(shared)))] == ["subscription"]


def _at_the_boundary(second: str) -> ProcessBuilder:
    task = process("order").task("ship").end().boundary_signal("one", on="ship", signal="alarm").end("first")
    return task.boundary_signal("two", on="ship", signal=second).end("second")


def _behind_the_gateway(second: str) -> ProcessBuilder:
    race = process("order").event_based_gateway("race").signal_catch("one", signal="alarm").end("first")
    return race.branch("race").signal_catch("two", signal=second).end("second")


def _in_event_sub_processes(second: str) -> ProcessBuilder:
    scope = process("order").start().end()
    for name, signal in (("one", "alarm"), ("two", second)):
        scope.beside(event_sub_process(name).start_signal(f"{name}_start", signal=signal).end())
    return scope


@pytest.mark.parametrize(
    ("model", "rule"),
    [
        pytest.param(_at_the_boundary, "boundary-unique", id="boundary"),
        pytest.param(_behind_the_gateway, "event-gateway-target-unique", id="gateway"),
        pytest.param(_in_event_sub_processes, "event-sub-process-unique", id="event sub-processes"),
    ],
)
def test_a_signal_is_waited_for_once_in_a_place(model: Callable[[str], ProcessBuilder], rule: str) -> None:
    assert refusals(lint(read(model("other").to_xml()))) == ()

    refused = refusals(lint(read(model("alarm").to_xml())))

    assert [finding.rule_id for finding in refused] == [rule]


def test_a_start_event_may_use_cluster_variables() -> None:
    model = process("p").start_message("start", message="=camunda.vars.env.topic").end()

    assert lint(read(model.to_xml())) == ()


def test_a_start_event_in_an_event_sub_process_may_use_variables() -> None:
    inside = event_sub_process("help").start_signal("begin", signal="=kind").end()

    assert lint(read(process("order").start().beside(inside).end().to_xml())) == ()


def test_a_message_of_two_processes_of_a_file_starts_one_of_them() -> None:
    one = process("order").start_message("begin", message="ordered").end()
    other = process("invoice").start_message("first", message="ordered").end("billed")
    xml = definitions(one, other)
    assert lint(read(xml)) == ()

    shared = xml.replace(b'messageRef="invoice_first_message"', b'messageRef="order_begin_message"')
    assert [finding.rule_id for finding in lint(read(shared))] == ["message-start-unique"]


def test_the_etag_is_stable() -> None:
    assert etag() == etag()
    assert len(etag()) == 64


@pytest.mark.parametrize(
    ("form", "rules"),
    [
        ({"formId": "address"}, []),
        ({"formId": "address", "bindingType": "deployment"}, []),
        ({"formId": "address", "bindingType": "versionTag", "versionTag": "stable"}, []),
        ({"formId": "address", "bindingType": "versionTag"}, ["version-tag-binding"]),
        ({"formId": "address", "bindingType": "newest"}, ["binding-type"]),
        ({"formId": "=("}, ["user-task-form-expression"]),
        ({"formId": "address", "externalReference": "a"}, ["user-task-form"]),
        ({"formKey": "a"}, ["user-task-form"]),
        ({"bindingType": "latest"}, ["user-task-form"]),
    ],
)
def test_a_user_task_is_bound_to_one_form(form: dict[str, str], rules: list[str]) -> None:
    findings = lint(read(process("order").start().user_task("review", form=form).end().to_xml()))

    assert [finding.rule_id for finding in findings] == rules


PLACES: Mapping[str, Callable[[dict[str, str]], ProcessBuilder]] = {
    "start": lambda timer: process("order").start_timer("n", **timer).end(),
    "event sub-process": lambda timer: _beside(is_interrupting=True, **timer),
    "event sub-process, not interrupting": lambda timer: _beside(is_interrupting=False, **timer),
    "catch": lambda timer: process("order").start().timer_catch("n", **timer).end(),
    "boundary": lambda timer: _attached(is_interrupting=True, **timer),
    "boundary, not interrupting": lambda timer: _attached(is_interrupting=False, **timer),
}
KINDS = {"date": "2030-01-01T00:00:00Z", "duration": "PT1H", "cycle": "R3/PT1H"}


def _beside(*, is_interrupting: bool, **timer: str) -> ProcessBuilder:
    beside = event_sub_process("help").start_timer("n", is_interrupting=is_interrupting, **timer).end()
    return process("order").start().task("a").end().beside(beside)


def _attached(*, is_interrupting: bool, **timer: str) -> ProcessBuilder:
    task = process("order").start().task("a").end()
    return task.boundary_timer("n", on="a", is_interrupting=is_interrupting, **timer).end()


@pytest.mark.parametrize(
    ("place", "kinds"),
    [
        ("start", ["date", "cycle"]),
        ("event sub-process", ["date", "duration"]),
        ("event sub-process, not interrupting", ["date", "duration", "cycle"]),
        ("catch", ["date", "duration"]),
        ("boundary", ["date", "duration"]),
        ("boundary, not interrupting", ["date", "duration", "cycle"]),
    ],
)
def test_each_place_has_its_kinds_of_timers(place: str, kinds: list[str]) -> None:
    allowed = [
        kind
        for kind, value in KINDS.items()
        if not refusals(lint(read(PLACES[place]({kind: value}).to_xml())))
    ]

    assert allowed == kinds


CODES = {"one": "same", "other": "same", "another": "different"}


def _caught(kind: str, place: str, *references: str | None) -> ProcessBuilder:
    """Catch these errors or escalations at one place, each in an event of its own."""
    builder = process("order").start().embed(sub_process("pack").start().end()).end()
    for number, reference in enumerate(references):
        if place == "boundary":
            attach = builder.boundary_error if kind == "error" else builder.boundary_escalation
            attach(f"n{number}", on="pack", **{kind: reference}).end()
        else:
            scope = event_sub_process(f"help{number}")
            begin = scope.start_error if kind == "error" else scope.start_escalation
            builder.beside(begin(f"n{number}", **{kind: reference}).end())
    return builder


@pytest.mark.parametrize("place", ["boundary", "event sub-process"])
@pytest.mark.parametrize("kind", ["error", "escalation"])
@pytest.mark.parametrize(
    ("references", "is_refused"),
    [
        pytest.param(("one", "other"), True, id="one code"),
        pytest.param((None, None), True, id="every code"),
        pytest.param(("one", "another", None), False, id="two codes and the others"),
    ],
)
def test_one_event_of_a_place_catches_a_code(
    kind: str, place: str, references: tuple[str | None, ...], *, is_refused: bool
) -> None:
    model = definitions(_caught(kind, place, *references), **{f"{kind}s": CODES})

    broken = {finding.rule_id for finding in refusals(lint(read(model)))}

    rule = "boundary-unique" if place == "boundary" else "event-sub-process-unique"
    assert broken == ({rule} if is_refused else set())


def refused(builder: ProcessBuilder) -> set[str]:
    """The rules that refuse a process."""
    return {finding.rule_id for finding in refusals(lint(read(builder.to_xml())))}


def test_behind_an_event_based_gateway_there_are_catch_events_and_no_receive_tasks() -> None:
    race = process("order").event_based_gateway("race").timer_catch("late", duration="PT1H").end()
    race.branch("race").message_catch("paid", message="paid", key="=id").end()
    race.branch("race").signal_catch("stop", signal="stop").end()
    race.branch("race").condition_catch("many", condition="=x > 1").end()
    assert refused(race) == set()

    race.branch("race").receive_task("sold", message="sold", key="=id").end()

    assert refused(race) == {"event-gateway-target"}


def test_a_link_leads_to_an_event_of_its_own_scope() -> None:
    inner = sub_process("pack").start().end().catch_link("on", link="there").task("a").end()

    found = refused(process("order").start().embed(inner).throw_link("off", link="there"))

    assert "link-pair" in found


LISTENED: Mapping[str, Callable[[], ProcessBuilder]] = {
    "task": lambda: process("order").start().task("n"),
    "intermediate event": lambda: process("order").start().throw_event("n"),
    "start event": lambda: process("order").start("n"),
    "boundary event": lambda: (
        process("order").start().task("a").end().boundary_timer("n", on="a", duration="PT1H")
    ),
    "gateway": lambda: process("order").start().exclusive_gateway("n"),
    "end event": lambda: process("order").start().end("n"),
    "error end event": lambda: process("order").declare_error("e", "E").start().end_error("n", error="e"),
}


@pytest.mark.parametrize(
    ("element", "phases"),
    [
        ("task", ["start", "end"]),
        ("intermediate event", ["start", "end"]),
        ("start event", ["end"]),
        ("boundary event", ["end"]),
        ("gateway", ["start"]),
        ("end event", ["start", "end"]),
        ("error end event", ["start"]),
    ],
)
def test_each_element_has_listeners_for_its_phases(element: str, phases: list[str]) -> None:
    models = {phase: LISTENED[element]().execution_listener(phase, type="log") for phase in ("start", "end")}

    found = {phase: refused(builder) for phase, builder in models.items()}

    allowed = [phase for phase, rules in found.items() if "execution-listener-phase" not in rules]
    assert allowed == phases


def test_a_compensation_boundary_event_has_no_listeners() -> None:
    for phase in ("start", "end"):
        builder = process("order").start().task("a").boundary_compensation("n", on="a")
        builder.execution_listener(phase, type="log").task("undo")

        assert "execution-listener-phase" in refused(builder.branch("a").end())


def test_compensation_names_an_activity_of_its_own_scope() -> None:
    def builder(activity: str) -> ProcessBuilder:
        inner = sub_process("pack").start().task("a").boundary_compensation("a_undone", on="a").task("undo_a")
        inner.branch("a").throw_compensation("regret", activity=activity).end()
        outer = process("order").start().task("b").boundary_compensation("b_undone", on="b").task("undo_b")
        return outer.branch("b").embed(inner).end()

    assert refused(builder("a")) == set()
    assert refused(builder("b")) == {"compensation-reference"}


def _escalation_on(task: str) -> set[str]:
    """The rules that refuse a boundary event for escalations at such a task."""
    return refused(process("order").start().node(task, "a").end().boundary_escalation("late", on="a").end())


def test_an_escalation_is_caught_at_a_user_task_and_at_no_other_task() -> None:
    assert _escalation_on("userTask") == set()
    assert _escalation_on("manualTask") == {"escalation-boundary-host"}


@pytest.mark.parametrize(
    ("condition", "rules"),
    [
        pytest.param("=done", set(), id="expression"),
        pytest.param("", set(), id="nothing"),
        pytest.param("done", {"multi-instance-completion"}, id="static"),
        pytest.param("true", {"multi-instance-completion"}, id="static boolean"),
    ],
)
def test_a_completion_condition_of_multi_instance_is_an_expression(condition: str, rules: set[str]) -> None:
    model = process("order").start().task("a").multi_instance("=[1, 2]", until=condition).end()

    assert refused(model) == rules
