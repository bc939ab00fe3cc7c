"""For every rule a model that breaks it and its mended twin."""

from collections.abc import Mapping
from dataclasses import dataclass

from server.bpmn.builder import ProcessBuilder, process

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


def _task(extensions: str, tag: str = "serviceTask") -> bytes:
    return _line(f'<{tag} id="n"><extensionElements>{extensions}</extensionElements></{tag}>')


def _process_extension(extension: str) -> bytes:
    return _file(f'<extensionElements>{extension}</extensionElements><startEvent id="start"/>')


def _job(extra: str = "") -> str:
    return f'<zeebe:taskDefinition type="work"/>{extra}'


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
_TIMER_EVENT = '<intermediateCatchEvent id="n"><timerEventDefinition id="t"/></intermediateCatchEvent>'

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
    "event-definition-type": case("n", _line(_TIMER_EVENT), _line('<manualTask id="n"/>')),
    "extension-once": case("n", _task(_job(_job())), _task(_job())),
    "extension-type": case(
        "n", _task(_job() + "<zeebe:linkedResources/>"), _task(_job() + "<zeebe:properties/>")
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
    "end-event-required": case("p", process("p").task("n"), process("p").task("n").end()),
}

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
    "execution-listener-unique": case(
        "n", _listeners(*['eventType="end" type="log" retries="1"'] * 2), _task(_job())
    ),
}  # fmt: skip

MAPPINGS = {
    "input-mapping-source": case("n", _mapping('input source="= (" target="a"'), _mapping('input source="(" target="a"')),
    "output-mapping-source": case("n", _mapping('output source="b" target="a"'), _mapping('output source="=b" target="a"')),
    "mapping-target-required": case("n", _mapping('input source="=b"'), _mapping('input target="a"')),
    "mapping-target": case("n", _mapping('input source="=b" target="a..c"'), _mapping('input source="=b" target="a.c"')),
    "mapping-target-reserved": case("n", _mapping('output source="=b" target="null"'), _mapping('output source="=b" target="nil"')),
}  # fmt: skip

CASES: Mapping[str, Case] = {**STRUCTURE, **EVENTS, **FLOWS, **TASKS, **MAPPINGS}
