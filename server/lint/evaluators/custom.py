"""Checks that only one rule uses."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress

from server import feel
from server.bpmn.model import (
    EVENT_DEFINITION,
    BoundaryEvent,
    CatchEvent,
    Event,
    EventSubProcess,
    FlowNode,
    SubProcess,
    ThrowEvent,
)
from server.lint.evaluators import tables, timers
from server.lint.evaluators.expressions import syntax
from server.lint.paths import elements, written
from server.lint.rule import Rule
from server.lint.subject import Subject
from server.lint.violation import Violation
from server.xml import Markup

MOST_BOUNDARY_EVENTS = 100

MOST_INCLUSIVE_FLOWS = 200

MOST_COMPENSABLE_ACTIVITIES = 500

MOST_CONDITION_VARIABLES = 100

# BPMN 2.0.2 §10.5.6: triggers of event sub-processes, and of events after an event-based gateway.
_EVENT_SUB_PROCESS_TRIGGERS = frozenset({
    "conditionalEventDefinition",
    "errorEventDefinition",
    "escalationEventDefinition",
    "messageEventDefinition",
    "signalEventDefinition",
    "timerEventDefinition",
})  # fmt: skip
_AWAITED = frozenset({"conditional", "message", "signal", "timer"})
# Camunda accepts user tasks too, although no escalation can occur inside them.
_ESCALATION_HOSTS = frozenset({"adHocSubProcess", "callActivity", "subProcess", "userTask"})
# By event definition: the attribute that refers to an error, escalation, …, and that element's attribute with
# its code or name.
_CODES: Mapping[str, tuple[str, str]] = {
    "compensateEventDefinition": ("", ""),
    "errorEventDefinition": ("errorRef", "errorCode"),
    "escalationEventDefinition": ("escalationRef", "escalationCode"),
    "messageEventDefinition": ("messageRef", "name"),
    "signalEventDefinition": ("signalRef", "name"),
}
# Event definitions for which a missing name does not match everything.
_NAMED = frozenset({"messageEventDefinition", "signalEventDefinition"})

_CONDITIONED_GATEWAYS = frozenset({"exclusiveGateway", "inclusiveGateway"})


def custom(subject: Subject, rule: Rule) -> Iterator[Violation]:
    """Run the named checks in `value`."""
    for name in rule.value:
        yield from _CHECKS[name](subject)


def _conditioned(subject: Subject) -> Iterator[Violation]:
    flow, scope = subject.markup, subject.scope
    source = scope.nodes.get(flow.attributes.get("sourceRef", "")) if scope else None
    if scope is None or source is None or source.tag not in _CONDITIONED_GATEWAYS:
        return
    is_only = len(scope.leaving(source.id)) == 1
    is_default = source.markup.attributes.get("default") == subject.element_id
    if not is_only and not is_default and flow.first("conditionExpression") is None:
        yield Violation(f"found neither behind {source.id}")


def _joins_or_forks(subject: Subject) -> Iterator[Violation]:
    scope, node_id = subject.scope, subject.element_id
    if scope is not None and len(scope.entering(node_id)) > 1 and len(scope.leaving(node_id)) > 1:
        yield Violation("found several incoming and several outgoing flows")


def _phases(subject: Subject) -> Iterator[Violation]:
    for at, event_type in written(subject, "zeebe:executionListener@eventType"):
        if event_type.strip() and event_type not in _phases_of(subject.markup):
            yield Violation(f"found {event_type}", at)


def _phases_of(element: Markup) -> frozenset[str]:
    """Return the listener phases that can occur on an element; an event that throws an error has no end phase."""
    if element.first("compensateEventDefinition") is not None and element.tag == "boundaryEvent":
        return frozenset()
    if element.tag in {"startEvent", "boundaryEvent"}:
        return frozenset({"end"})
    is_left = not element.tag.endswith("Gateway") and not _throws_error(element)
    return frozenset({"start", "end"}) if is_left else frozenset({"start"})


def _throws_error(element: Markup) -> bool:
    return element.tag == "endEvent" and element.first("errorEventDefinition") is not None


def _native_hosts(subject: Subject) -> Iterator[Violation]:
    is_native = subject.markup.tag == "userTask" and any(True for _ in elements(subject, "zeebe:userTask"))
    if not is_native:
        yield from (Violation("found none", at) for at in elements(subject, "zeebe:taskListener"))


def _resource_hosts(subject: Subject) -> Iterator[Violation]:
    is_host = subject.markup.tag in {"serviceTask", "sendTask"}
    if not (is_host and any(True for _ in elements(subject, "zeebe:taskDefinition"))):
        yield from (Violation("found none", at) for at in elements(subject, "zeebe:linkedResource"))


def _one_form(subject: Subject) -> Iterator[Violation]:
    """Require exactly one form reference: an id, or the reference that this kind of user task supports."""
    is_native = any(True for _ in elements(subject, "zeebe:userTask"))
    references = ("formId", "externalReference" if is_native else "formKey")
    for definition in elements(subject, "zeebe:formDefinition"):
        found = [name for name in references if definition.attributes.get(name, "").strip()]
        if len(found) != 1:
            expected = " or ".join(references)
            yield Violation(f"expected {expected}, found {' and '.join(found) or 'none'}", definition)


def _errors_interrupt(subject: Subject) -> Iterator[Violation]:
    event = subject.markup
    name = "cancelActivity" if event.tag == "boundaryEvent" else "isInterrupting"
    goes_on = event.attributes.get(name, "true").strip() in {"false", "0"}
    if goes_on and event.first("errorEventDefinition") is not None:
        yield Violation("found an error that does not")


def _triggers_of_event_sub_processes(subject: Subject) -> Iterator[Violation]:
    tags = [child.tag for child in subject.markup.children if child.tag.endswith(EVENT_DEFINITION)]
    if not any(tag in _EVENT_SUB_PROCESS_TRIGGERS for tag in tags):
        yield Violation(f"found {' and '.join(tags) or 'no trigger'}")


def _caught_twice(subject: Subject) -> Iterator[Violation]:
    """Compare the events caught at each activity of a scope."""
    return _repeated(subject, _attached(subject))


def _begun_twice(subject: Subject) -> Iterator[Violation]:
    """Compare the triggers of a scope's event sub-processes."""
    nodes = subject.scope.nodes.values() if subject.scope is not None else ()
    starts = (
        start
        for node in nodes
        if isinstance(node, EventSubProcess)
        for start in node.markup.all("startEvent")
    )
    return _repeated(subject, (("", start) for start in starts))


def _starts_twice_by_message(subject: Subject) -> Iterator[Violation]:
    """Compare message start events: by message across the file, and by message name within each process."""
    names = {each.attributes.get("id"): each.attributes.get("name") for each in subject.markup.all("message")}
    seen: set[tuple[str, str | None]] = set()
    for process in subject.markup.all("process"):
        if process.attributes.get("isExecutable", "").strip() not in {"true", "1"}:
            continue
        for start, reference in _triggered_starts(process, "messageEventDefinition", "messageRef"):
            name, process_id = names.get(reference), process.attributes.get("id")
            places = {("", reference), (process_id or "", name or reference)}
            if places & seen:
                yield Violation(f"found {name or reference} again", start)
            seen |= places


def _starts_twice_by_signal(subject: Subject) -> Iterator[Violation]:
    seen: set[str] = set()
    for start, reference in _triggered_starts(subject.markup, "signalEventDefinition", "signalRef"):
        root = subject.roots.get(reference)
        name = root.attributes.get("name", reference) if root is not None else reference
        if name in seen:
            yield Violation(f"found {name} again", start)
        seen.add(name)


def _triggered_starts(process: Markup, kind: str, reference: str) -> Iterator[tuple[Markup, str]]:
    """Yield a process's start events with such a definition, each with the id that the definition refers to."""
    for start in process.all("startEvent"):
        definition = start.first(kind)
        if definition is not None and reference in definition.attributes:
            yield start, definition.attributes[reference]


def _repeated(subject: Subject, events: Iterable[tuple[str, Markup]]) -> Iterator[Violation]:
    """Yield a violation for each event that catches the same as an earlier event at the same place.

    `events` yields pairs of place and event. A missing code matches every code; a missing message or signal
    name matches nothing.
    """
    seen: set[tuple[str, str, str | None]] = set()
    for place, event in events:
        for kind, (reference, attribute) in _CODES.items():
            definition = event.first(kind)
            if definition is None:
                continue
            root = subject.roots.get(definition.attributes.get(reference, ""))
            code = None if root is None else root.attributes.get(attribute)
            if code is None and kind in _NAMED:
                continue
            if (place, kind, code) in seen:
                everything = "compensation" if kind == "compensateEventDefinition" else "every code"
                yield Violation(f"found {code or everything} again", event)
            seen.add((place, kind, code))


def _literal_codes(subject: Subject) -> Iterator[Violation]:
    reference, attribute = _CODES[subject.markup.tag]
    root = subject.roots.get(subject.markup.attributes.get(reference, ""))
    code = "" if root is None else root.attributes.get(attribute, "")
    if code.startswith("="):
        yield Violation(f"found {code}")


def _received_twice(subject: Subject) -> Iterator[Violation]:
    """Compare the message of each receive task with its boundary events' messages."""
    for host, node in _attached(subject):
        task = subject.scope.nodes.get(host) if subject.scope is not None else None
        definition = node.first("messageEventDefinition")
        if task is None or task.tag != "receiveTask" or definition is None:
            continue
        names = [_message_name(subject, each) for each in (task.markup, definition)]
        if names[0] is not None and names[0] == names[1]:
            yield Violation(f"found {names[0]} at its boundary", task.markup)


def _message_name(subject: Subject, reference: Markup) -> str | None:
    message = subject.roots.get(reference.attributes.get("messageRef", ""))
    return None if message is None else message.attributes.get("name")


def _many_boundary_events(subject: Subject) -> Iterator[Violation]:
    """Limit the boundary events per activity, because the engine subscribes to all of them in one step."""
    counts = Counter(host for host, _ in _attached(subject))
    for host, number in counts.items():
        if number > MOST_BOUNDARY_EVENTS and subject.scope is not None and host in subject.scope.nodes:
            at = subject.scope.nodes[host].markup
            yield Violation(f"expected at most {MOST_BOUNDARY_EVENTS}, found {number}", at)


def _escalations_from_inside(subject: Subject) -> Iterator[Violation]:
    event = subject.markup
    if subject.scope is None or event.first("escalationEventDefinition") is None:
        return
    host = subject.scope.nodes.get(event.attributes.get("attachedToRef", ""))
    if host is not None and host.tag not in _ESCALATION_HOSTS:
        yield Violation(f"found {host.tag}")


def _links(subject: Subject) -> Iterator[Event]:
    """Return the catching link events of a scope."""
    nodes = subject.scope.nodes.values() if subject.scope is not None else ()
    return (node for node in nodes if isinstance(node, CatchEvent) and node.link_name is not None)


def _links_caught_twice(subject: Subject) -> Iterator[Violation]:
    seen: set[str | None] = set()
    for event in _links(subject):
        if event.link_name in seen:
            yield Violation(f"found {event.link_name} again", event.markup)
        seen.add(event.link_name)


def _link_without_catch(subject: Subject) -> Iterator[Violation]:
    name = subject.markup.attributes.get("name", "")
    if subject.scope is None or name not in subject.scope.links:
        yield Violation(f"found none with the name {name}")


def _behind_event_gateway(subject: Subject) -> Iterator[Violation]:
    for node in _targets(subject):
        if node.tag != "intermediateCatchEvent" or not _AWAITED.issuperset(node.event_definitions):
            yield Violation(f"found {' '.join((node.tag, *node.event_definitions))} {node.id}")


def _awaited_twice(subject: Subject) -> Iterator[Violation]:
    """Compare the events after an event-based gateway."""
    return _repeated(subject, (("", node.markup) for node in _targets(subject)))


def _behind_others(subject: Subject) -> Iterator[Violation]:
    for node in _targets(subject):
        if subject.scope is not None and len(subject.scope.entering(node.id)) > 1:
            yield Violation(f"found several at {node.id}")


def _targets(subject: Subject) -> Iterator[FlowNode]:
    scope = subject.scope
    if scope is not None:
        yield from (scope.nodes[target] for target in scope.successors(subject.element_id))


def _many_inclusive_joins(subject: Subject) -> Iterator[Violation]:
    """Limit the incoming flows of inclusive joins: compilation traces each of them back through the whole scope."""
    scope = subject.scope
    nodes = scope.nodes.values() if scope is not None else ()
    counts = [len(scope.entering(node.id)) for node in nodes if scope and node.tag == "inclusiveGateway"]
    number = sum(count for count in counts if count > 1)
    if number > MOST_INCLUSIVE_FLOWS:
        yield Violation(f"expected at most {MOST_INCLUSIVE_FLOWS}, found {number}")


def _attached(subject: Subject) -> Iterator[tuple[str, Markup]]:
    """Yield the boundary events of a scope, each with the id of its activity."""
    nodes = subject.scope.nodes.values() if subject.scope is not None else ()
    return (
        (node.markup.attributes.get("attachedToRef", ""), node.markup)
        for node in nodes
        if node.tag == "boundaryEvent"
    )


def _one_handler(subject: Subject) -> Iterator[Violation]:
    scope, event_id = subject.scope, subject.element_id
    if scope is None or subject.markup.first("compensateEventDefinition") is None:
        return
    handlers, flows = scope.handlers.get(event_id, ()), scope.leaving(event_id)
    if len(handlers) != 1 or flows:
        yield Violation(f"found {len(handlers)} handlers and {len(flows)} outgoing flows")


def _handlers_outside(subject: Subject) -> Iterator[Violation]:
    scope, node_id = subject.scope, subject.element_id
    node = scope.nodes.get(node_id) if scope is not None else None
    if scope is None or node is None or not node.is_for_compensation:
        return
    if scope.entering(node_id) or scope.leaving(node_id):
        yield Violation("found a flow")
    if node_id in scope.hosts:
        yield Violation("found a boundary event")


def _activities_to_compensate(subject: Subject) -> Iterator[Violation]:
    """Check the compensation events of the scope and of its event sub-processes.

    Event sub-processes compensate the activities of the scope around them.
    """
    scope = subject.scope
    if scope is None:
        return
    inside = list(scope.nodes.values())
    thrown = [] if "bpmn:EventSubProcess" in subject.types else inside
    for node in inside:
        if isinstance(node, EventSubProcess):
            thrown = [*thrown, *node.flow_nodes()]
    compensable = {
        node.attached_to_ref
        for node in inside
        if isinstance(node, BoundaryEvent) and "compensate" in node.event_definitions
    }
    compensable |= {node.id for node in inside if isinstance(node, SubProcess)}
    for node in thrown:
        if (
            isinstance(node, ThrowEvent)
            and node.activity_ref is not None
            and node.activity_ref not in compensable
        ):
            yield Violation(f"found {node.activity_ref}", node.markup)


def _few_compensable_activities(subject: Subject) -> Iterator[Violation]:
    """Limit compensable activities: a scope stores its completed activities by id, and is rewritten with each completion."""
    number = sum(
        1
        for node in subject.markup.descendants()
        if node.tag == "boundaryEvent" and node.first("compensateEventDefinition") is not None
    )
    if number > MOST_COMPENSABLE_ACTIVITIES:
        yield Violation(f"expected at most {MOST_COMPENSABLE_ACTIVITIES}, found {number}")


def _starts_twice_by_condition(subject: Subject) -> Iterator[Violation]:
    seen: set[str] = set()
    for start in subject.markup.all("startEvent"):
        definition = start.first("conditionalEventDefinition")
        condition = definition.first("condition") if definition is not None else None
        if condition is not None and condition.text in seen:
            yield Violation(f"found {condition.text} again", start)
        if condition is not None:
            seen.add(condition.text)


def _few_variables(subject: Subject) -> Iterator[Violation]:
    """Limit the variables in a condition: the engine registers the condition under each of them."""
    for _, text in written(subject, "condition"):
        with suppress(feel.FeelSyntaxError):
            number = len(feel.compile_expression(text.removeprefix("=")).variables)
            if number > MOST_CONDITION_VARIABLES:
                yield Violation(f"expected at most {MOST_CONDITION_VARIABLES}, found {number}")


def _output_expression(subject: Subject) -> Iterator[Violation]:
    return _expressions(subject, "zeebe:loopCharacteristics@outputElement")


def _ad_hoc_expressions(subject: Subject) -> Iterator[Violation]:
    for path in (
        "completionCondition@text()",
        "zeebe:adHoc@activeElementsCollection",
        "zeebe:adHoc@outputElement",
    ):
        yield from _expressions(subject, path)


def _completion_condition(subject: Subject) -> Iterator[Violation]:
    yield from _expressions(subject, "completionCondition@text()")


def _expressions(subject: Subject, path: str) -> Iterator[Violation]:
    """Check that a non-blank text is a FEEL expression with a leading `=`."""
    for at, text in written(subject, path):
        if text.startswith("="):
            yield from syntax(path, text[1:], at)
        elif text.strip():
            yield Violation(f"{path} does not start with =, found {text}", at)


def _worker_controls(subject: Subject) -> Iterator[Violation]:
    """Refuse control by the model if the ad-hoc sub-process has a job worker."""
    if not any(True for _ in elements(subject, "zeebe:taskDefinition")):
        return
    cancels = subject.markup.attributes.get("cancelRemainingInstances", "true").strip()
    if cancels in {"false", "0"}:
        yield Violation("found cancelRemainingInstances=false")
    for path in ("completionCondition@text()", "zeebe:adHoc@activeElementsCollection"):
        for at, text in written(subject, path):
            if text.strip():
                yield Violation(f"found {path}", at)


def _activity_inside(subject: Subject) -> Iterator[Violation]:
    nodes = subject.scope.nodes.values() if subject.scope is not None else ()
    if all(isinstance(node, EventSubProcess) or node.tag.endswith(("Event", "Gateway")) for node in nodes):
        yield Violation("found none")


def _event_sub_processes_interrupt(subject: Subject) -> Iterator[Violation]:
    for inside in subject.markup.all("subProcess"):
        if inside.attributes.get("triggeredByEvent", "false").strip() not in {"true", "1"}:
            continue
        for start in inside.all("startEvent"):
            if start.attributes.get("isInterrupting", "true").strip() in {"true", "1"}:
                yield Violation("found one that does", start)


def _output_pair(subject: Subject) -> Iterator[Violation]:
    return _pairs(subject, "zeebe:loopCharacteristics")


def _ad_hoc_output_pair(subject: Subject) -> Iterator[Violation]:
    return _pairs(subject, "zeebe:adHoc")


def _pairs(subject: Subject, tag: str) -> Iterator[Violation]:
    for found in elements(subject, tag):
        collection, element = (
            bool(found.attributes.get(name, "").strip()) for name in ("outputCollection", "outputElement")
        )
        if collection is not element:
            missing = "outputElement" if collection else "outputCollection"
            yield Violation(f"{missing} is missing or blank", found)


_CHECKS: Mapping[str, Callable[[Subject], Iterator[Violation]]] = {
    "xor-or-conditioned": _conditioned,
    "not both": _joins_or_forks,
    "phases that happen": _phases,
    "one form": _one_form,
    "native user task": _native_hosts,
    "service or send task": _resource_hosts,
    "errors interrupt": _errors_interrupt,
    "one event for an error": _caught_twice,
    "one event sub-process for a trigger": _begun_twice,
    "one start event for a message": _starts_twice_by_message,
    "one start event for a signal": _starts_twice_by_signal,
    "triggers of event sub-processes": _triggers_of_event_sub_processes,
    "literal codes": _literal_codes,
    "escalations from inside": _escalations_from_inside,
    "one catching link for a name": _links_caught_twice,
    "a catching link": _link_without_catch,
    "events behind the gateway": _behind_event_gateway,
    "one event behind the gateway for a message": _awaited_twice,
    "events of the gateway alone": _behind_others,
    "few inclusive joins": _many_inclusive_joins,
    "another message than its boundary events": _received_twice,
    "few boundary events": _many_boundary_events,
    "one compensation handler": _one_handler,
    "handlers outside the flow": _handlers_outside,
    "activities to compensate": _activities_to_compensate,
    "one start event for a condition": _starts_twice_by_condition,
    "few variables": _few_variables,
    "few compensable activities": _few_compensable_activities,
    "expression of an output element": _output_expression,
    "output collection with output element": _output_pair,
    "an activity inside": _activity_inside,
    "control by the worker alone": _worker_controls,
    "output collection of an ad-hoc sub-process with output element": _ad_hoc_output_pair,
    "expression of a completion condition": _completion_condition,
    "expressions of an ad-hoc sub-process": _ad_hoc_expressions,
    "event sub-processes that do not interrupt": _event_sub_processes_interrupt,
    "kinds of timers": timers.kinds,
    "an entry for each column": tables.entries_of_rules,
    "a cell for each column": tables.cells_of_rows,
    "output values where they order": tables.priorities,
    "no two rules for the same input": tables.overlaps,
}
