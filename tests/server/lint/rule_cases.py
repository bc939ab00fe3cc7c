"""For every rule a model that breaks it and its mended twin."""

from collections.abc import Mapping
from dataclasses import dataclass

from server.bpmn.builder import ProcessBuilder, process
from server.lint.rules.bpmn_tasks import MAX_LINKED_RESOURCES

_HEAD = (
    '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"'
    ' xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" id="file">'
)


@dataclass(frozen=True, slots=True)
class Case:
    broken: bytes
    mended: bytes
    element_id: str


def case(element_id: str, broken: ProcessBuilder | bytes, mended: ProcessBuilder | bytes) -> Case:
    """Tell the element that a finding must name, and the two models."""
    return Case(_xml(broken), _xml(mended), element_id)


def _xml(model: ProcessBuilder | bytes) -> bytes:
    return model.to_xml() if isinstance(model, ProcessBuilder) else model


def _file(body: str, *, is_executable: str = "true") -> bytes:
    return f'{_HEAD}<process id="p" isExecutable="{is_executable}">{body}</process></definitions>'.encode()


def _line(node: str) -> bytes:
    """Put the node with id `n` between a start and an end event."""
    return _file(
        '<startEvent id="start"/><sequenceFlow id="in" sourceRef="start" targetRef="n"/>'
        f'{node}<sequenceFlow id="out" sourceRef="n" targetRef="end"/><endEvent id="end"/>'
    )


def _asked(listener: str = 'eventType="assigning" type="log" retries="1"', *, native: bool = True) -> str:
    listeners = f"<zeebe:taskListeners><zeebe:taskListener {listener}/></zeebe:taskListeners>"
    return f"<zeebe:userTask/>{listeners}" if native else listeners


def _task(extensions: str, tag: str = "serviceTask") -> bytes:
    return _line(f'<{tag} id="n"><extensionElements>{extensions}</extensionElements></{tag}>')


def _process_extension(extension: str) -> bytes:
    return _file(f'<extensionElements>{extension}</extensionElements><startEvent id="start"/>')


def _user_task(extension: str) -> bytes:
    return _task(f"<zeebe:{extension}/>", "userTask")


def _started(form: str) -> bytes:
    start = f"<extensionElements><zeebe:formDefinition {form}/></extensionElements>"
    return _file(f'<startEvent id="start">{start}</startEvent>')


def _linking(*linked: str, tag: str = "serviceTask") -> bytes:
    inside = "".join(f"<zeebe:linkedResource {attributes}/>" for attributes in linked)
    return _task(_job(f"<zeebe:linkedResources>{inside}</zeebe:linkedResources>"), tag)


def _job(extra: str = "") -> str:
    return f'<zeebe:taskDefinition type="work"/>{extra}'


def _call(*extensions: str) -> bytes:
    return _task("".join(f"<zeebe:calledElement {attributes}/>" for attributes in extensions), "callActivity")


def _decision(attributes: str) -> bytes:
    return _task(f"<zeebe:calledDecision {attributes}/>", "businessRuleTask")


def _loop(attributes: str = 'inputCollection="=xs"', more: str = "") -> str:
    return (
        f"<multiInstanceLoopCharacteristics><extensionElements><zeebe:loopCharacteristics {attributes}/>"
        f"</extensionElements>{more}</multiInstanceLoopCharacteristics>"
    )


def _ad_hoc(extension: str = "", inside: str = '<task id="a"/>', attributes: str = "") -> bytes:
    extensions = f"<extensionElements>{extension}</extensionElements>" if extension else ""
    return _line(f'<adHocSubProcess id="n"{attributes}>{extensions}{inside}</adHocSubProcess>')


def _helped(start: str) -> str:
    return (
        f'<task id="a"/><subProcess id="help" triggeredByEvent="true"><startEvent id="s" {start}>'
        "<timerEventDefinition><timeDuration>PT1H</timeDuration></timerEventDefinition></startEvent></subProcess>"
    )


def _repeated(loop: str) -> bytes:
    return _line(f'<task id="n">{loop}</task>')


def _script(attributes: str) -> bytes:
    return _task(f"<zeebe:script {attributes}/>", "scriptTask")


def _mapping(mapping: str) -> bytes:
    return _task(_job(f"<zeebe:ioMapping><zeebe:{mapping}/></zeebe:ioMapping>"))


def _headers(*keys: str) -> bytes:
    headers = "".join(f'<zeebe:header key="{key}" value="v"/>' for key in keys)
    return _task(_job(f"<zeebe:taskHeaders>{headers}</zeebe:taskHeaders>"))


def _listeners(*listeners: str) -> bytes:
    inside = "".join(f"<zeebe:executionListener {listener}/>" for listener in listeners)
    return _task(_job(f"<zeebe:executionListeners>{inside}</zeebe:executionListeners>"))


def _one() -> ProcessBuilder:
    return process("p").start("start").service_task("n", type="work").end("end")


def _gateway(condition: str | None, *, default: bool = False) -> ProcessBuilder:
    builder = process("p").exclusive_gateway("g").flow(condition="=a > 1").task("one").end().branch("g")
    return builder.flow(condition=condition, default=default, element_id="second").task("two").end()


def _fork() -> ProcessBuilder:
    return process("p").start("start").parallel_gateway("fork").task("one").end().branch("fork").task("two")


_START = '<startEvent id="start"/>'


def _trigger(kind: str, content: str = "") -> str:
    return f"<{kind}EventDefinition>{content}</{kind}EventDefinition>"


def _event(tag: str, *triggers: str) -> bytes:
    return _line(f'<{tag} id="n">{"".join(triggers)}</{tag}>')


def _boundary(*triggers: str, to: str = "work", attributes: str = "") -> bytes:
    """Attach the event with id `n` to a task."""
    return _file(
        f'{_START}<sequenceFlow id="in" sourceRef="start" targetRef="work"/><task id="work"/>'
        f'<boundaryEvent id="n" attachedToRef="{to}" {attributes}>{"".join(triggers)}</boundaryEvent>'
        '<sequenceFlow id="out" sourceRef="n" targetRef="end"/><endEvent id="end"/>'
    )


def _inside(content: str) -> bytes:
    return _line(f'<subProcess id="n">{content}</subProcess>')


def _caught(
    reference: str = 'errorRef="declined"', code: str = 'errorCode="DECLINED"', more: str = ""
) -> bytes:
    """Attach an event that catches an error of the file to a task."""
    file = _boundary(f"<errorEventDefinition {reference}/>", attributes=more)
    return file.replace(b"</definitions>", f'<error id="declined" {code}/></definitions>'.encode())


def _triggered(*starts: str, more: str = "") -> bytes:
    """Put event sub-processes with these start events into a process; the first has the id `n`."""
    inside = "".join(
        f'<subProcess id="{"n" * place}" triggeredByEvent="true">{start}</subProcess>'
        for place, start in enumerate(starts, start=1)
    )
    file = _file(f"{_START}{inside}{more}")
    return file.replace(b"</definitions>", b'<error id="declined" errorCode="DECLINED"/></definitions>')


def _begun(trigger: str, element_id: str = "begin", more: str = "") -> str:
    return f'<startEvent id="{element_id}" {more}>{trigger}</startEvent>'


def _thrown(definition: str, code: str = "declined") -> bytes:
    file = _file(f'{_START}<endEvent id="n">{definition}</endEvent>')
    return file.replace(b"</definitions>", f'<error id="e" errorCode="{code}"/></definitions>'.encode())


def _escalated(event: bytes, code: str = 'escalationCode="late"') -> bytes:
    return event.replace(b"</definitions>", f'<escalation id="e" {code}/></definitions>'.encode())


def _raised(definition: str) -> bytes:
    return _file(f'{_START}<endEvent id="n">{definition}</endEvent>')


def _hosted(tag: str) -> bytes:
    """Catch every escalation on the boundary of such an activity."""
    return _boundary(_trigger("escalation")).replace(
        b'<task id="work"/>', f'<{tag} id="work">{_BEGIN}</{tag}>'.encode()
    )


def _linked(*names: str, thrown: str = "on") -> bytes:
    """Throw a link from the event with id `n`; the catching ones have the ids `c1` and so on."""
    catches = "".join(
        f'<intermediateCatchEvent id="c{place}"><linkEventDefinition name="{name}"/></intermediateCatchEvent>'
        for place, name in enumerate(names, start=1)
    )
    return _file(
        f'{_START}<intermediateThrowEvent id="n"><linkEventDefinition name="{thrown}"/></intermediateThrowEvent>'
        + catches
    )


def _race() -> ProcessBuilder:
    builder = process("p").event_based_gateway("n").timer_catch("one", duration="PT1H").end()
    return builder.branch("n").timer_catch("two", duration="PT1H").end()


def _race_for(second: str) -> ProcessBuilder:
    """Wait for the message `note` behind one event-based gateway, and for this one."""
    builder = process("p").event_based_gateway("g").message_catch("one", message="note", key="=id").end()
    return builder.branch("g").message_catch("n", message=second, key="=id").end()


def _joined(flows: int) -> ProcessBuilder:
    builder = process("p").parallel_gateway("fork").inclusive_gateway("join").end()
    for number in range(1, flows):
        builder.branch("fork").task(f"t{number}").connect_to("join")
    return builder


_ESCALATE = '<escalationEventDefinition escalationRef="e"/>'
_FAIL = '<errorEventDefinition errorRef="e"/>'


def _twice(first: str, second: str) -> bytes:
    event = f'<boundaryEvent id="m" attachedToRef="work"><errorEventDefinition {second}/></boundaryEvent><endEvent'
    return _caught(first).replace(b"<endEvent", event.encode())


def _many(count: int) -> bytes:
    """Attach so many events to a task, the one with id `n` among them."""
    others = "".join(
        f'<boundaryEvent id="b{n}" attachedToRef="work">{_HOUR}</boundaryEvent>' for n in range(1, count)
    )
    return _boundary(_HOUR).replace(b"<endEvent", f"{others}<endEvent".encode())


_SUBSCRIPTION = '<zeebe:subscription correlationKey="=id"/>'


def _declared(message_id: str, name: str, subscription: str = _SUBSCRIPTION) -> str:
    inside = f"<extensionElements>{subscription}</extensionElements>" if subscription else ""
    return f'<message id="{message_id}" {name}>{inside}</message>'


def _message_event(
    reference: str = 'messageRef="note"', name: str = 'name="note"', subscription: str = _SUBSCRIPTION
) -> bytes:
    """Wait for a message of the file in the flow."""
    file = _event("intermediateCatchEvent", f"<messageEventDefinition {reference}/>")
    return file.replace(b"</definitions>", f"{_declared('note', name, subscription)}</definitions>".encode())


def _sent(reference: str = "") -> bytes:
    """Let a job worker send a message."""
    extensions = f"<extensionElements>{_job()}</extensionElements>"
    return _event("intermediateThrowEvent", extensions, f"<messageEventDefinition {reference}/>")


def _compensated(activity: str | None = None) -> ProcessBuilder:
    """Compensate the task with id `n`, or this activity."""
    builder = process("p").task("n").end_compensation("throw", activity=activity)
    return builder.boundary_compensation("undone", on="n").task("undo")


def _compensable(number: int) -> ProcessBuilder:
    builder = process("p").start()
    for place in range(number):
        builder.task(f"t{place}").boundary_compensation(f"b{place}", on=f"t{place}").task(f"h{place}")
        builder.branch(f"t{place}")
    return builder.end()


def _conditional(content: str) -> bytes:
    """Wait for a condition in the flow."""
    return _event("intermediateCatchEvent", _trigger("conditional", content))


def _referring(number: int) -> bytes:
    return _conditional(f"<condition>={' or '.join(f'v{place}' for place in range(number))}</condition>")


def _filtered(attributes: str) -> bytes:
    extension = f"<extensionElements><zeebe:conditionalFilter {attributes}/></extensionElements>"
    return _conditional(f"{extension}<condition>=a</condition>")


def _signal_event(reference: str = 'signalRef="alarm"', name: str = 'name="alarm"') -> bytes:
    """Wait for a signal of the file in the flow."""
    file = _event("intermediateCatchEvent", f"<signalEventDefinition {reference}/>")
    return file.replace(b"</definitions>", f'<signal id="alarm" {name}/></definitions>'.encode())


def _starts(*names: str, trigger: str = "message") -> bytes:
    """Begin with messages or signals of these names, each of which has an id of its own; the second start is `n`."""
    ids = [f"r{place}" for place in range(len(names))]
    starts = "".join(
        f'<startEvent id="{"n" * place}s"><{trigger}EventDefinition {trigger}Ref="{each}"/></startEvent>'
        for place, each in enumerate(ids)
    )
    roots = "".join(f'<{trigger} id="{each}" name="{name}"/>' for each, name in zip(ids, names, strict=True))
    return _file(starts).replace(b"</definitions>", f"{roots}</definitions>".encode())


def _receive(boundary: str) -> bytes:
    """Wait for the message `note` at a task, and for this one at its boundary."""
    event = (
        '<boundaryEvent id="b" attachedToRef="n"><messageEventDefinition messageRef="at_boundary"/></boundaryEvent>'
        '<sequenceFlow id="more" sourceRef="b" targetRef="end"/>'
    )
    messages = _declared("note", 'name="note"') + _declared("at_boundary", f'name="{boundary}"')
    file = _line('<receiveTask id="n" messageRef="note"/>')
    file = file.replace(b"</process>", f"{event}</process>".encode())
    return file.replace(b"</definitions>", f"{messages}</definitions>".encode())


_HOUR = _trigger("timer", "<timeDuration>PT1H</timeDuration>")
_BEGIN = '<startEvent id="begin"/>'

STRUCTURE = {
    "xml-well-formed": case("", b"<definitions>", _one()),
    "element-order": case(
        "n",
        _line('<task id="n"><outgoing>out</outgoing><incoming>in</incoming></task>'),
        _line('<task id="n"><incoming>in</incoming><outgoing>out</outgoing></task>'),
    ),
    "id-required": case("", _file("<startEvent/>"), _file(_START)),
    "id-unique": case("n", _line('<task id="n"/><task id="n"/>'), _line('<task id="n"/>')),
    "id-length": case("n" * 256, _file(f'<startEvent id="{"n" * 256}"/>'), _file(f'<startEvent id="{"n" * 255}"/>')),
    "name-length": case(
        "n", process("p").start("n", name="x" * 32769), process("p").start("n", name="x" * 32768)
    ),
    "executable-process": case("file", _file(_START, is_executable="false"), _file(_START)),
    "element-type": case("n", _line('<transaction id="n"/>'), _line('<task id="n"/>')),
    "event-definition-type": case("n", _event("intermediateCatchEvent", _trigger("cancel")), _event("intermediateCatchEvent", _HOUR)),
    "extension-once": case("n", _task(_job(_job())), _task(_job())),
    "extension-type": case(
        "n", _task(_job() + "<zeebe:publishMessage/>"), _task(_job() + "<zeebe:properties/>")
    ),
    "version-tag": case(
        "p", _process_extension('<zeebe:versionTag value=" "/>'), _process_extension('<zeebe:versionTag value="1"/>')
    ),
}  # fmt: skip

EVENTS = {
    "start-event-required": case("p", _file('<endEvent id="end"/>'), _file(_START)),
    "single-none-start-event": case("p", _file(_START + '<startEvent id="other"/>'), _file(_START)),
    "start-event-no-incoming": case(
        "start", _one().branch("n").connect_to("start"), _one().branch("n").connect_to("end")
    ),
    "end-event-no-outgoing": case("end", _one().connect_to("n"), _one()),
    "start-event-single-definition": case(
        "begin", _triggered(_begun(_HOUR + _HOUR)), _triggered(_begun(_HOUR))
    ),
    "message-start-unique": case("ns", _starts("a", "a"), _starts("a", "b")),
    "signal-start-unique": case(
        "ns", _starts("a", "a", trigger="signal"), _starts("a", "b", trigger="signal")
    ),
    "start-name-static": case("r0", _starts("=kind"), _starts("=&quot;a&quot; + string(1)")),
    "timer-start-constant": case(
        "n",
        _file(_begun(_trigger("timer", "<timeDate>=deadline</timeDate>"), "n")),
        _file(_begun(_trigger("timer", '<timeDate>=now() + duration("PT1H")</timeDate>'), "n")),
    ),
    "start-event-count": case("p", _starts(*map(str, range(101))), _starts(*map(str, range(100)))),
    "start-event-type": case("n", _event("startEvent", _trigger("error")), _file('<startEvent id="n"/>')),
    "event-sub-process-start-event": case(
        "n", _triggered(_begun(_HOUR) + _begun(_HOUR, "again")), _triggered(_begun(_HOUR))
    ),
    "event-sub-process-start": case("begin", _triggered(_begun("")), _triggered(_begun(_HOUR))),
    "event-sub-process-no-flow": case(
        "n",
        _triggered(_begun(_HOUR), more='<sequenceFlow id="in" sourceRef="start" targetRef="n"/>'),
        _triggered(_begun(_HOUR)),
    ),
    "event-sub-process-unique": case(
        "again",
        _triggered(_begun(_trigger("error")), _begun(_trigger("error"), "again")),
        _triggered(_begun(_trigger("error")), _begun('<errorEventDefinition errorRef="declined"/>', "again")),
    ),
    "event-sub-process-count": case(
        "p",
        _triggered(*(_begun(_HOUR, f"b{number}") for number in range(101))),
        _triggered(*(_begun(_HOUR, f"b{number}") for number in range(100))),
    ),
    "sub-process-start-event": case("n", _inside(_BEGIN + '<startEvent id="again"/>'), _inside(_BEGIN)),
    "sub-process-blank-start": case(
        "n", _inside(f'<startEvent id="begin">{_HOUR}</startEvent>'), _inside(_BEGIN)
    ),
    "boundary-attached": case("n", _boundary(_HOUR, to="start"), _boundary(_HOUR)),
    "boundary-no-incoming": case(
        "n",
        _boundary(_HOUR).replace(
            b"<endEvent", b'<sequenceFlow id="back" sourceRef="work" targetRef="n"/><endEvent'
        ),
        _boundary(_HOUR),
    ),
    "boundary-definition": case("n", _boundary(), _boundary(_HOUR)),
    "intermediate-catch-definition": case(
        "n", _event("intermediateCatchEvent", _HOUR, _HOUR), _event("intermediateCatchEvent", _HOUR)
    ),
    "intermediate-catch-type": case(
        "n", _event("intermediateCatchEvent", _trigger("error")), _event("intermediateCatchEvent", _HOUR)
    ),
    "non-interrupting-type": case("n", _caught(more='cancelActivity="false"'), _caught()),
    "boundary-unique": case("m", _twice("", ""), _twice('errorRef="declined"', "")),
    "boundary-count": case("work", _many(101), _many(100)),
    "boundary-definition-type": case("n", _boundary(_trigger("terminate")), _boundary(_HOUR)),
    "error-reference": case("n", _thrown(_trigger("error")), _thrown(_FAIL)),
    "error-catch-reference": case("n", _boundary('<errorEventDefinition errorRef="gone"/>'), _caught()),
    "error-code-expression": case("e", _thrown(_FAIL, "=("), _thrown(_FAIL, "=code")),
    "error-code": case("declined", _caught(code=""), _caught()),
    "error-catch-static": case("n", _caught(code='errorCode="=code"'), _caught()),
    "escalation-reference": case(
        "n", _escalated(_raised(_trigger("escalation"))), _escalated(_raised(_ESCALATE))
    ),
    "escalation-catch-reference": case(
        "begin", _triggered(_begun(_ESCALATE)), _escalated(_triggered(_begun(_ESCALATE)))
    ),
    "escalation-code": case("e", _escalated(_raised(_ESCALATE), ""), _escalated(_raised(_ESCALATE))),
    "escalation-code-expression": case(
        "e",
        _escalated(_raised(_ESCALATE), 'escalationCode="=("'),
        _escalated(_raised(_ESCALATE), 'escalationCode="=code"'),
    ),
    "escalation-catch-static": case(
        "begin",
        _escalated(_triggered(_begun(_ESCALATE)), 'escalationCode="=code"'),
        _escalated(_triggered(_begun(_ESCALATE))),
    ),
    "escalation-boundary-host": case("n", _boundary(_trigger("escalation")), _hosted("subProcess")),
    "link-name": case("n", _linked("on", thrown=""), _linked("on")),
    "link-catch-unique": case("c2", _linked("on", "on"), _linked("on", "off")),
    "link-pair": case("n", _linked("off"), _linked("on")),
    "intermediate-throw-type": case(
        "n", _event("intermediateThrowEvent", _HOUR), _event("intermediateThrowEvent")
    ),
    "timer-definition": case(
        "n", _event("intermediateCatchEvent", _trigger("timer")), _event("intermediateCatchEvent", _HOUR)
    ),
    "timer-kind-allowed": case(
        "n",
        _boundary(_trigger("timer", "<timeCycle>R/PT1H</timeCycle>")),
        _boundary(_trigger("timer", "<timeCycle>R/PT1H</timeCycle>"), attributes='cancelActivity="false"'),
    ),
    "timer-expression": case(
        "n",
        _event("intermediateCatchEvent", _trigger("timer", "<timeDate>soon</timeDate>")),
        _event("intermediateCatchEvent", _trigger("timer", "<timeDate>=deadline</timeDate>")),
    ),
    "end-event-type": case(
        "n",
        _file(f'{_START}<endEvent id="n">{_HOUR}</endEvent>'),
        _file(f'{_START}<endEvent id="n"/>'),
    ),
    "end-event-definition": case("n", _thrown(_FAIL + _FAIL), _thrown(_FAIL)),
    "end-event-required": case("p", process("p").task("n"), process("p").task("n").end()),
}

MESSAGES = {
    "message-reference": case("n", _message_event(reference='messageRef="gone"'), _message_event()),
    "message-throw-reference": case(
        "n",
        _sent('messageRef="gone"'),
        _sent(),
    ),
    "message-name": case("note", _message_event(name=""), _message_event()),
    "message-name-expression": case("note", _message_event(name='name="=("'), _message_event(name='name="=kind"')),
    "subscription": case("note", _message_event(subscription=""), _message_event()),
    "correlation-key-required": case("note", _message_event(subscription="<zeebe:subscription/>"), _message_event()),
    "correlation-key": case(
        "note", _message_event(subscription='<zeebe:subscription correlationKey="id"/>'), _message_event()
    ),
    "receive-task-message-unique": case("n", _receive(boundary="note"), _receive(boundary="other")),
}  # fmt: skip

SIGNALS = {
    "signal-reference": case("n", _signal_event(reference='signalRef="gone"'), _signal_event()),
    "signal-name": case("alarm", _signal_event(name=""), _signal_event()),
    "signal-name-expression": case("alarm", _signal_event(name='name="=("'), _signal_event(name='name="=kind"')),
}  # fmt: skip

COMPENSATION = {
    "boundary-compensation": case(
        "undone", _compensated().branch("undone").flow().task("next"), _compensated()
    ),
    "compensation-handler": case("undo", _compensated().branch("undo").end("more"), _compensated()),
    "compensation-reference": case("throw", _compensated(activity="undo"), _compensated(activity="n")),
    "compensation-wait": case(
        "throw",
        _compensated()
        .to_xml()
        .replace(b"EventDefinition/>", b'EventDefinition waitForCompletion="false"/>', 1),
        _compensated(),
    ),
    "compensation-count": case("p", _compensable(501), _compensable(500)),
}

CONDITIONS = {
    "conditional-start-unique": case(
        "two",
        process("p").start_condition("one", condition="=a").end().start_condition("two", condition="=a").end(),
        process("p").start_condition("one", condition="=a").end().start_condition("two", condition="=b").end(),
    ),
    "conditional-condition": case("n", _conditional(""), _conditional("<condition>=a</condition>")),
    "conditional-expression": case("n", _conditional("<condition>a</condition>"), _conditional("<condition>=a</condition>")),
    "conditional-variables": case("n", _referring(101), _referring(100)),
    "conditional-filter-events": case("n", _filtered('variableEvents="delete"'), _filtered('variableEvents="create, update"')),
    "conditional-filter-names": case("n", _filtered('variableNames="a,,b"'), _filtered('variableNames="a, b"')),
}  # fmt: skip

FLOWS = {
    "flow-ends-connected": case(
        "start_to_n", _one().to_xml().replace(b'targetRef="n"', b'targetRef="lost"'), _one()
    ),
    "sequence-flow-condition": case("second", _gateway(None), _gateway(None, default=True)),
    "condition-only-at-gateway": case(
        "n", process("p").task("n").flow(condition="=true").end(), process("p").task("n").end()
    ),
    "condition-expression": case("second", _gateway("a > 2"), _gateway("=a > 2")),
    "default-flow-source": case(
        "g",
        _gateway(None, default=True).to_xml().replace(b'default="second"', b'default="start_to_g"'),
        _gateway(None, default=True),
    ),
    "event-gateway-outgoing": case("n", process("p").event_based_gateway("n").timer_catch("one", duration="PT1H"), _race()),
    "event-gateway-target": case("n", _race().branch("n").task("three"), _race()),
    "event-gateway-target-incoming": case("n", _race().branch("one").connect_to("two"), _race()),
    "event-gateway-target-unique": case("n", _race_for("note"), _race_for("other")),
    "inclusive-join-count": case("p", _joined(201), _joined(200)),
    "no-straight-through-loop": case(
        "p",
        process("p").exclusive_gateway("g").task("n").connect_to("g"),
        process("p").exclusive_gateway("g").service_task("n", type="work").connect_to("g"),
    ),
    "unreachable": case(
        "n", _file(_START + '<task id="n"/>'), process("p").start("start").task("n")
    ),
    "fake-join": case(
        "two", _fork().branch("one").connect_to("two"), _fork()
    ),
    "no-disconnected": case("start", _file(_START), process("p").start("start").task("n")),
    "no-duplicate-sequence-flows": case("n_to_end_2", _one().branch("n").connect_to("end"), _one()),
    "no-gateway-join-fork": case(
        "g",
        process("p").start("s").exclusive_gateway("g").flow(condition="=a").service_task("n", type="t")
        .connect_to("g").flow(default=True).end(),
        process("p").start("s").exclusive_gateway("g").flow(condition="=a").service_task("n", type="t")
        .branch("g").flow(default=True).end(),
    ),
    "no-implicit-start": case("n", _file(_START + '<task id="n"/>'), process("p").task("n")),
    "no-implicit-end": case("n", process("p").task("n"), process("p").task("n").end()),
    "no-implicit-split": case("n", _one().branch("n").end("other"), _one()),
    "superfluous-gateway": case("g", process("p").parallel_gateway("g").end(), _fork()),
}  # fmt: skip

TASKS = {
    "task-definition": case("n", _line('<serviceTask id="n"/>'), _task(_job())),
    "message-throw-implementation": case("n", _line('<sendTask id="n"/>'), _task(_job(), "sendTask")),
    "business-rule-implementation": case(
        "n",
        _task(_job('<zeebe:calledDecision decisionId="d" resultVariable="r"/>'), "businessRuleTask"),
        _task(_job(), "businessRuleTask"),
    ),
    "script-implementation": case("n", _line('<scriptTask id="n"/>'), _task(_job(), "scriptTask")),
    "called-decision": case("n", _decision('decisionId="d"'), _decision('decisionId="d" resultVariable="r"')),
    "called-decision-expression": case("n", _decision('decisionId="=(" resultVariable="r"'), _decision('decisionId="=d" resultVariable="r"')),
    "called-element-count": case("n", _call(), _call('processId="p"')),
    "called-element": case("n", _call('processId=" "'), _call('processId="p"')),
    "called-element-expression": case("n", _call('processId="=("'), _call('processId="=p"')),
    "binding-type": case(
        "n", _call('processId="p" bindingType="newest"'), _call('processId="p" bindingType="deployment"')
    ),
    "version-tag-binding": case(
        "n",
        _call('processId="p" bindingType="versionTag"'),
        _call('processId="p" bindingType="versionTag" versionTag="1.0"'),
    ),
    "linked-resource": case(
        "n", _linking('resourceId="r"'), _linking('resourceId="r" resourceType="RPA"')
    ),
    "linked-resource-count": case(
        "n",
        _linking(*['resourceId="r" resourceType="RPA"'] * (MAX_LINKED_RESOURCES + 1)),
        _linking(*['resourceId="r" resourceType="RPA"'] * MAX_LINKED_RESOURCES),
    ),
    "linked-resource-host": case(
        "n",
        _linking('resourceId="r" resourceType="RPA"', tag="scriptTask"),
        _linking('resourceId="r" resourceType="RPA"', tag="sendTask"),
    ),
    "id-inner-instance": case(
        "n#innerInstance", _line('<task id="n#innerInstance"/>'), _line('<task id="n"/>')
    ),
    "ad-hoc-not-empty": case("n", _ad_hoc(inside='<exclusiveGateway id="a"/>'), _ad_hoc()),
    "ad-hoc-no-start-end": case("n", _ad_hoc(inside='<task id="a"/><endEvent id="b"/>'), _ad_hoc()),
    "ad-hoc-output-pair": case(
        "n",
        _ad_hoc('<zeebe:adHoc outputCollection="all"/>'),
        _ad_hoc('<zeebe:adHoc outputCollection="all" outputElement="=one"/>'),
    ),
    "ad-hoc-job-exclusive": case(
        "n",
        _ad_hoc(_job('<zeebe:adHoc activeElementsCollection="=[]"/>')),
        _ad_hoc(_job('<zeebe:adHoc activeElementsCollection=""/>')),
    ),
    "ad-hoc-expressions": case(
        "n",
        _ad_hoc('<zeebe:adHoc activeElementsCollection="a"/>'),
        _ad_hoc('<zeebe:adHoc activeElementsCollection="=[]"/>'),
    ),
    "ad-hoc-no-interrupting-event-sub-process": case(
        "s", _ad_hoc(inside=_helped("")), _ad_hoc(inside=_helped('isInterrupting="false"'))
    ),
    "multi-instance-host": case(
        "n", _line(f'<exclusiveGateway id="n">{_loop()}</exclusiveGateway>'), _repeated(_loop())
    ),
    "multi-instance-once": case("n", _repeated(_loop() + _loop()), _repeated(_loop())),
    "multi-instance-characteristics": case(
        "n", _repeated("<multiInstanceLoopCharacteristics/>"), _repeated(_loop())
    ),
    "multi-instance-input-required": case("n", _repeated(_loop("")), _repeated(_loop())),
    "multi-instance-input": case("n", _repeated(_loop('inputCollection="xs"')), _repeated(_loop())),
    "multi-instance-output": case(
        "n",
        _repeated(_loop('inputCollection="=xs" outputCollection="ys" outputElement="y"')),
        _repeated(_loop('inputCollection="=xs" outputCollection="ys" outputElement="=y"')),
    ),
    "multi-instance-output-pair": case(
        "n",
        _repeated(_loop('inputCollection="=xs" outputCollection="ys"')),
        _repeated(_loop('inputCollection="=xs" outputCollection="" outputElement=""')),
    ),
    "multi-instance-completion": case(
        "n",
        _repeated(_loop(more="<completionCondition>=(</completionCondition>")),
        _repeated(_loop(more="<completionCondition>=done</completionCondition>")),
    ),
    "script-expression": case("n", _script('expression="a" resultVariable="r"'), _script('expression="=a" resultVariable="r"')),
    "script-result": case("n", _script('expression="=a"'), _script('expression="=a" resultVariable="r"')),
    "job-type": case("n", _task('<zeebe:taskDefinition retries="1"/>'), _task(_job())),
    "job-type-expression": case(
        "n",
        _task('<zeebe:taskDefinition type="= ("/>'),
        _task('<zeebe:taskDefinition type="= kind"/>'),
    ),
    "job-type-length": case(
        "n",
        _task(f'<zeebe:taskDefinition type="{"w" * 256}"/>'),
        _task(f'<zeebe:taskDefinition type="{"w" * 255}"/>'),
    ),
    "job-retries": case("n", _task('<zeebe:taskDefinition type="work" retries=""/>'), _task(_job())),
    "task-headers-reserved": case("n", _headers("io.camunda.zeebe:own"), _headers("io.camunda:own")),
    "task-headers-unique": case("n", _headers("one", "two", "one"), _headers("one", "two", "three")),
    "execution-listener-fields": case(
        "n", _listeners('eventType="start" type="log"'), _task(_job())
    ),
    "execution-listener-expression": case(
        "n", _listeners('eventType="start" type="=(" retries="1"'), _listeners('eventType="start" type="=kind" retries="1"')
    ),
    "execution-listener-phase": case(
        "n", _listeners('eventType="pause" type="log" retries="1"'), _listeners('eventType="end" type="log" retries="1"')
    ),
    "execution-listener-unique": case(
        "n", _listeners(*['eventType="end" type="log" retries="1"'] * 2), _task(_job())
    ),
}  # fmt: skip

USER_TASKS = {
    "user-task-form": case(
        "n", _user_task('formDefinition formKey="a" formId="b"'), _user_task('formDefinition formKey="a"')
    ),
    "user-task-form-expression": case(
        "n", _user_task('formDefinition formKey="=("'), _user_task('formDefinition formKey="=a"')
    ),
    "user-task-form-body": case(
        "p", _process_extension("<zeebe:userTaskForm/>"), _process_extension("<zeebe:userTaskForm>{}</zeebe:userTaskForm>")
    ),
    "start-form-embedded": case("start", _started('formKey="camunda-forms:bpmn:f"'), _started('formId="f"')),
    "user-task-assignment": case(
        "n", _user_task('assignmentDefinition assignee="= ("'), _user_task('assignmentDefinition assignee="("')
    ),
    "user-task-candidates-csv": case(
        "n", _user_task('assignmentDefinition candidateUsers="a, ,b"'), _user_task('assignmentDefinition candidateUsers="a, b"')
    ),
    "user-task-dates": case(
        "n", _user_task('taskSchedule dueDate="2030-01-01T08:00:00"'), _user_task('taskSchedule dueDate="2030-01-01T08:00:00Z"')
    ),
    "user-task-priority": case(
        "n", _user_task('priorityDefinition priority="101"'), _user_task('priorityDefinition priority="100"')
    ),
    "task-listener-host": case("n", _task(_asked(native=False), "userTask"), _task(_asked(), "userTask")),
    "task-listener-fields": case(
        "n", _task(_asked('eventType="assigning" type="log"'), "userTask"), _task(_asked(), "userTask")
    ),
    "task-listener-event": case(
        "n", _task(_asked('eventType="start" type="log" retries="1"'), "userTask"), _task(_asked(), "userTask")
    ),
    "task-listener-expression": case(
        "n", _task(_asked('eventType="assigning" type="=(" retries="1"'), "userTask"), _task(_asked(), "userTask")
    ),
    "user-task-definition": case("n", _task("", "userTask"), _user_task('formDefinition formKey="a"')),
}  # fmt: skip

MAPPINGS = {
    "input-mapping-source": case("n", _mapping('input source="= (" target="a"'), _mapping('input source="(" target="a"')),
    "output-mapping-source": case("n", _mapping('output source="b" target="a"'), _mapping('output source="=b" target="a"')),
    "mapping-target-required": case("n", _mapping('input source="=b"'), _mapping('input target="a"')),
    "mapping-target": case("n", _mapping('input source="=b" target="a..c"'), _mapping('input source="=b" target="a.c"')),
    "mapping-target-reserved": case("n", _mapping('output source="=b" target="null"'), _mapping('output source="=b" target="nil"')),
}  # fmt: skip

CASES: Mapping[str, Case] = {
    **STRUCTURE,
    **EVENTS,
    **MESSAGES,
    **SIGNALS,
    **COMPENSATION,
    **CONDITIONS,
    **FLOWS,
    **TASKS,
    **USER_TASKS,
    **MAPPINGS,
}
