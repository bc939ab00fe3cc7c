"""Write small processes in Python instead of drawing them.

    order = (
        process("order")
        .start()
        .service_task("charge", type="charge", inputs={"amount": "=total"})
        .exclusive_gateway("paid")
        .flow(condition="=ok")
        .service_task("ship", type="ship", retries="5", headers={"carrier": "any"})
        .end()
        .branch("paid").flow(default=True).end("rejected")
    )
    server.bpmn.reader.read(order.to_xml())

Every method appends behind the current element and makes the new one current. `branch` makes an
earlier element current, `connect_to` leads to one, `flow` decides about the next connection only.
`embed` appends a sub-process, which is built like a process:

    process("order").embed(sub_process("pack").service_task("wrap", type="wrap").end()).end()

`beside` puts an event sub-process into a scope; its path begins with `start_timer` or another event with a trigger.

The result is XML that takes the same way as any file, mistakes included.
"""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from itertools import chain, count
from typing import Self

from lxml import etree
from lxml.etree import _Element as XmlElement

from server.bpmn.extensions import NAMESPACE as ZEEBE_NAMESPACE
from server.bpmn.reader import BPMN_NAMESPACE

_NO_PAIRS: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class _NextFlow:
    id: str | None = None
    condition: str | None = None
    default: bool = False


def process(process_id: str, *, name: str | None = None, version_tag: str | None = None) -> "ProcessBuilder":
    """Begin an executable process; a start event is added before a first element of another kind."""
    return ProcessBuilder(process_id, name=name, version_tag=version_tag)


def sub_process(element_id: str, *, name: str | None = None) -> "ProcessBuilder":
    """Begin a sub-process for `embed`; generated ids start with its id."""
    return ProcessBuilder(element_id, name=name, tag="subProcess")


def ad_hoc_sub_process(element_id: str, *, name: str | None = None) -> "ProcessBuilder":
    """Begin an ad-hoc sub-process for `embed_ad_hoc`; `apart` begins another path in it."""
    return ProcessBuilder(element_id, name=name, tag="adHocSubProcess")


def event_sub_process(element_id: str, *, name: str | None = None) -> "ProcessBuilder":
    """Begin an event sub-process for `beside`."""
    builder = ProcessBuilder(element_id, name=name, tag="subProcess")
    builder.element.set("triggeredByEvent", "true")
    return builder


def definitions(
    *builders: "ProcessBuilder",
    errors: Mapping[str, str] = _NO_PAIRS,
    escalations: Mapping[str, str] = _NO_PAIRS,
) -> bytes:
    """The XML of one file with all these processes, their messages and signals.

    `errors` and `escalations` have the codes of errors and escalations by their ids.
    """
    namespaces = {"bpmn": BPMN_NAMESPACE, "zeebe": ZEEBE_NAMESPACE}
    attributes = {"id": "definitions", "targetNamespace": "urn:gnomon"}
    root = etree.Element(_bpmn("definitions"), attributes, nsmap=namespaces)
    all_errors, all_escalations = dict(errors), dict(escalations)
    for builder in builders:
        all_errors |= builder.errors
        all_escalations |= builder.escalations
    for error_id, code in all_errors.items():
        etree.SubElement(root, _bpmn("error"), id=error_id, errorCode=code)
    for escalation_id, code in all_escalations.items():
        etree.SubElement(root, _bpmn("escalation"), id=escalation_id, escalationCode=code)
    roots = {each.get("id"): each for builder in builders for each in builder.roots}
    root.extend(deepcopy(each) for each in roots.values())
    root.extend(deepcopy(builder.element) for builder in builders)
    return etree.tostring(root, xml_declaration=True, encoding="UTF-8", pretty_print=True)


class ProcessBuilder:
    """A process under construction; see the module for how its methods chain."""

    def __init__(
        self,
        process_id: str,
        *,
        name: str | None = None,
        version_tag: str | None = None,
        tag: str = "process",
    ) -> None:
        is_process = tag == "process"
        self.element = etree.Element(
            _bpmn(tag), _written(id=process_id, name=name, isExecutable="true" if is_process else None)
        )
        self.errors: dict[str, str] = {}
        self.escalations: dict[str, str] = {}
        self._prefix = "" if is_process else f"{process_id}_"
        # Messages and signals, which are siblings of the process in its file.
        self.roots: list[XmlElement] = []
        self._root_id = process_id
        self._nodes: dict[str, XmlElement] = {}
        self._ids: set[str] = set()
        self._current: str | None = None
        # Whether the first element needs no start event before it.
        self._has_start = tag == "adHocSubProcess"
        self._next_flow = _NextFlow()
        if version_tag is not None:
            etree.SubElement(_extension_elements(self.element), _zeebe("versionTag"), value=version_tag)

    def start(
        self, element_id: str | None = None, *, name: str | None = None, form: str | None = None
    ) -> Self:
        """Begin a path with a start event; `form` is the id of the form for starting the process."""
        self._current = None
        start_id = element_id or self._free_id("start")
        self._append("startEvent", start_id, name)
        if form is not None:
            self._extension(start_id, "formDefinition", formId=form)
        return self

    def declare_error(self, error_id: str, code: str) -> Self:
        """Declare an error with its code in the file."""
        self.errors[error_id] = code
        return self

    def declare_escalation(self, escalation_id: str, code: str) -> Self:
        """Declare an escalation with its code in the file."""
        self.escalations[escalation_id] = code
        return self

    def embed(
        self,
        scope: "ProcessBuilder",
        *,
        inputs: Mapping[str, str | None] = _NO_PAIRS,
        outputs: Mapping[str, str] = _NO_PAIRS,
    ) -> Self:
        """Append a sub-process with its content."""
        element_id = str(scope.element.get("id"))
        self.roots += scope.roots
        self.node("subProcess", element_id, name=scope.element.get("name"), inputs=inputs, outputs=outputs)
        self._fill(element_id, scope)
        return self

    def embed_ad_hoc(
        self,
        scope: "ProcessBuilder",
        *,
        active: str | None = None,
        until: str | None = None,
        cancels_remaining: bool = True,
        output: str | None = None,
        outputs_to: str | None = None,
        inputs: Mapping[str, str | None] = _NO_PAIRS,
        outputs: Mapping[str, str] = _NO_PAIRS,
    ) -> Self:
        """Append an ad-hoc sub-process with its content, which completes when the condition `until` is true.

        Expressions have their leading `=`; `active` evaluates to the ids of the elements that are activated
        first.
        """
        element_id = str(scope.element.get("id"))
        self.roots += scope.roots
        self.node(
            "adHocSubProcess", element_id, name=scope.element.get("name"), inputs=inputs, outputs=outputs
        )
        self._extension(
            element_id,
            "adHoc",
            activeElementsCollection=active,
            outputCollection=outputs_to,
            outputElement=output,
        )
        self._fill(element_id, scope)
        if until is not None:
            etree.SubElement(self._nodes[element_id], _bpmn("completionCondition")).text = until
        if not cancels_remaining:
            self._nodes[element_id].set("cancelRemainingInstances", "false")
        return self

    def job_worker(
        self,
        *,
        type: str,  # noqa: A002 - the attribute's name in the extension
        retries: str | None = None,
        headers: Mapping[str, str] = _NO_PAIRS,
    ) -> Self:
        """Let a job worker execute the current element, an ad-hoc sub-process."""
        element_id = self._current or ""
        self._extension(element_id, "taskDefinition", type=type, retries=retries)
        self._headers(element_id, headers)
        return self

    def apart(self) -> Self:
        """Begin another path of an ad-hoc sub-process; the next element has no incoming flow."""
        self._current, self._has_start = None, True
        return self

    def beside(
        self,
        scope: "ProcessBuilder",
        *,
        inputs: Mapping[str, str | None] = _NO_PAIRS,
        outputs: Mapping[str, str] = _NO_PAIRS,
    ) -> Self:
        """Add an event sub-process with its content to the scope; the current path continues unchanged."""
        self.roots += scope.roots
        element_id, current = str(scope.element.get("id")), self._current
        self._current = None
        self._append("subProcess", element_id, scope.element.get("name"))
        self._nodes[element_id].set("triggeredByEvent", "true")
        self._map(element_id, inputs, outputs)
        self._fill(element_id, scope)
        self._current = current
        return self

    def _fill(self, element_id: str, scope: "ProcessBuilder") -> None:
        self.errors |= scope.errors
        self.escalations |= scope.escalations
        for child in deepcopy(scope.element):
            if child.tag == _bpmn("extensionElements"):
                _extension_elements(self._nodes[element_id]).extend(child)
            else:
                self._nodes[element_id].append(child)

    def throw_event(self, element_id: str, *, name: str | None = None) -> Self:
        """Append an intermediate none throw event."""
        return self.node("intermediateThrowEvent", element_id, name=name)

    def start_timer(self, element_id: str, *, is_interrupting: bool = True, **timer: str) -> Self:
        """Begin an event sub-process with `date`, `duration` or `cycle`, or a process with `date` or `cycle`."""
        self._start(element_id, is_interrupting=is_interrupting)
        return self._timer(element_id, timer)

    def start_message(
        self,
        element_id: str,
        *,
        message: str,
        key: str | None = None,
        is_interrupting: bool = True,
        outputs: Mapping[str, str] = _NO_PAIRS,
    ) -> Self:
        """Begin an event sub-process with a message that has this name and correlation key, or a process without a key."""
        self._start(element_id, is_interrupting=is_interrupting)
        self._map(element_id, _NO_PAIRS, outputs)
        return self._message(element_id, message, key)

    def start_signal(
        self,
        element_id: str,
        *,
        signal: str,
        is_interrupting: bool = True,
        outputs: Mapping[str, str] = _NO_PAIRS,
    ) -> Self:
        """Begin an event sub-process or a process with a signal that has this name."""
        self._start(element_id, is_interrupting=is_interrupting)
        self._map(element_id, _NO_PAIRS, outputs)
        return self._signal(element_id, signal)

    def start_error(
        self, element_id: str, *, error: str | None = None, outputs: Mapping[str, str] = _NO_PAIRS
    ) -> Self:
        """Begin an event sub-process with the error that has this id in `definitions`, or with any error."""
        self._start(element_id, is_interrupting=True)
        self._map(element_id, _NO_PAIRS, outputs)
        return self._event(element_id, "error", error)

    def start_escalation(
        self, element_id: str, *, escalation: str | None = None, is_interrupting: bool = True
    ) -> Self:
        """Begin an event sub-process with the escalation that has this id in `definitions`, or with any escalation."""
        self._start(element_id, is_interrupting=is_interrupting)
        return self._event(element_id, "escalation", escalation)

    def boundary_escalation(
        self, element_id: str, *, on: str, escalation: str | None = None, is_interrupting: bool = True
    ) -> Self:
        """Attach a boundary event that catches the escalation that has this id in `definitions`, or any escalation."""
        self._attach(element_id, on)
        if not is_interrupting:
            self._nodes[element_id].set("cancelActivity", "false")
        return self._event(element_id, "escalation", escalation)

    def throw_escalation(self, element_id: str, *, escalation: str) -> Self:
        """Append an intermediate event that throws the escalation that has this id in `definitions`."""
        self.node("intermediateThrowEvent", element_id)
        return self._event(element_id, "escalation", escalation)

    def end_escalation(self, element_id: str, *, escalation: str) -> Self:
        """Append an end event that throws the escalation that has this id in `definitions`."""
        self.node("endEvent", element_id)
        return self._event(element_id, "escalation", escalation)

    def throw_link(self, element_id: str, *, link: str) -> Self:
        """Append a throwing link event, which jumps to the catch event with this link name."""
        self.node("intermediateThrowEvent", element_id)
        return self._link(element_id, link)

    def catch_link(self, element_id: str, *, link: str) -> Self:
        """Begin a path with the catch event of a link."""
        self._current = None
        self._append("intermediateCatchEvent", element_id, None)
        return self._link(element_id, link)

    def _link(self, element_id: str, name: str) -> Self:
        etree.SubElement(self._nodes[element_id], _bpmn("linkEventDefinition"), name=name)
        return self

    def _start(self, element_id: str, *, is_interrupting: bool) -> None:
        self.start(element_id)
        if not is_interrupting:
            self._nodes[element_id].set("isInterrupting", "false")

    def timer_catch(self, element_id: str, **timer: str) -> Self:
        """Append an intermediate catch event with `date`, `duration` or `cycle`."""
        self.node("intermediateCatchEvent", element_id)
        return self._timer(element_id, timer)

    def boundary_timer(self, element_id: str, *, on: str, is_interrupting: bool = True, **timer: str) -> Self:
        """Attach a boundary event to an activity, with `date`, `duration` or `cycle`, and continue the path behind it."""
        self._attach(element_id, on)
        if not is_interrupting:
            self._nodes[element_id].set("cancelActivity", "false")
        return self._timer(element_id, timer)

    def message_catch(
        self,
        element_id: str,
        *,
        message: str,
        key: str,
        tag: str = "intermediateCatchEvent",
        outputs: Mapping[str, str] = _NO_PAIRS,
    ) -> Self:
        """Append an element that waits for a message with this name and correlation key expression."""
        self.node(tag, element_id, outputs=outputs)
        return self._message(element_id, message, key)

    def receive_task(
        self, element_id: str, *, message: str, key: str, outputs: Mapping[str, str] = _NO_PAIRS
    ) -> Self:
        """Append a task that waits for a message."""
        return self.message_catch(element_id, message=message, key=key, tag="receiveTask", outputs=outputs)

    def boundary_message(
        self, element_id: str, *, on: str, message: str, key: str, is_interrupting: bool = True
    ) -> Self:
        """Attach a boundary event that waits for a message, and continue the path behind it."""
        self._attach(element_id, on)
        if not is_interrupting:
            self._nodes[element_id].set("cancelActivity", "false")
        return self._message(element_id, message, key)

    def signal_catch(self, element_id: str, *, signal: str, outputs: Mapping[str, str] = _NO_PAIRS) -> Self:
        """Append an event that waits for a signal with this name."""
        self.node("intermediateCatchEvent", element_id, outputs=outputs)
        return self._signal(element_id, signal)

    def boundary_signal(self, element_id: str, *, on: str, signal: str, is_interrupting: bool = True) -> Self:
        """Attach a boundary event that waits for a signal, and continue the path behind it."""
        self._attach(element_id, on)
        if not is_interrupting:
            self._nodes[element_id].set("cancelActivity", "false")
        return self._signal(element_id, signal)

    def throw_signal(
        self, element_id: str, *, signal: str, inputs: Mapping[str, str | None] = _NO_PAIRS
    ) -> Self:
        """Append an event that broadcasts a signal with this name and the local variables of the event."""
        self.node("intermediateThrowEvent", element_id, inputs=inputs)
        return self._signal(element_id, signal)

    def throw_message(
        self,
        element_id: str,
        *,
        type: str,  # noqa: A002 - the attribute's name in the extension
        retries: str | None = None,
        headers: Mapping[str, str] = _NO_PAIRS,
        inputs: Mapping[str, str | None] = _NO_PAIRS,
        outputs: Mapping[str, str] = _NO_PAIRS,
        tag: str = "intermediateThrowEvent",
    ) -> Self:
        """Append an event whose message a job worker sends."""
        self.service_task(
            element_id, type=type, tag=tag, retries=retries, headers=headers, inputs=inputs, outputs=outputs
        )
        return self._event(element_id, "message")

    def end_message(
        self,
        element_id: str,
        *,
        type: str,  # noqa: A002 - the attribute's name in the extension
        inputs: Mapping[str, str | None] = _NO_PAIRS,
        outputs: Mapping[str, str] = _NO_PAIRS,
    ) -> Self:
        """Append an end event whose message a job worker sends."""
        return self.throw_message(element_id, type=type, inputs=inputs, outputs=outputs, tag="endEvent")

    def end_signal(
        self, element_id: str, *, signal: str, inputs: Mapping[str, str | None] = _NO_PAIRS
    ) -> Self:
        """Append an end event that broadcasts a signal with this name and the local variables of the event."""
        self.node("endEvent", element_id, inputs=inputs)
        return self._signal(element_id, signal)

    def condition_catch(
        self, element_id: str, *, condition: str, outputs: Mapping[str, str] = _NO_PAIRS, **chosen: str
    ) -> Self:
        """Append an event that waits until a condition is true; `names` and `changes` are its variable filter."""
        self.node("intermediateCatchEvent", element_id, outputs=outputs)
        return self._condition(element_id, condition, chosen)

    def boundary_condition(
        self, element_id: str, *, on: str, condition: str, is_interrupting: bool = True, **chosen: str
    ) -> Self:
        """Attach a boundary event that waits until a condition is true, and continue the path behind it."""
        self._attach(element_id, on)
        if not is_interrupting:
            self._nodes[element_id].set("cancelActivity", "false")
        return self._condition(element_id, condition, chosen)

    def start_condition(
        self, element_id: str, *, condition: str, is_interrupting: bool = True, **chosen: str
    ) -> Self:
        """Begin an event sub-process or a process with a condition."""
        self._start(element_id, is_interrupting=is_interrupting)
        return self._condition(element_id, condition, chosen)

    def _condition(self, element_id: str, condition: str, chosen: Mapping[str, str]) -> Self:
        """Add a condition to an event; `names` and `changes` are its variable filter."""
        definition = etree.SubElement(self._nodes[element_id], _bpmn("conditionalEventDefinition"))
        if chosen:
            attributes = {
                f"variable{'Names' if key == 'names' else 'Events'}": text for key, text in chosen.items()
            }
            etree.SubElement(_extension_elements(definition), _zeebe("conditionalFilter"), attributes)
        etree.SubElement(definition, _bpmn("condition")).text = condition
        return self

    def boundary_error(
        self, element_id: str, *, on: str, error: str | None = None, outputs: Mapping[str, str] = _NO_PAIRS
    ) -> Self:
        """Attach a boundary event that catches the error that has this id in `definitions`, or any error."""
        self._attach(element_id, on)
        self._map(element_id, _NO_PAIRS, outputs)
        return self._event(element_id, "error", error)

    def boundary_compensation(self, element_id: str, *, on: str) -> Self:
        """Attach a compensation boundary event; the next element becomes its handler."""
        self._attach(element_id, on)
        self._nodes[element_id].set("cancelActivity", "false")
        return self._event(element_id, "compensate")

    def throw_compensation(self, element_id: str, *, activity: str | None = None) -> Self:
        """Append an event that compensates this activity, or everything completed in the scope."""
        self.node("intermediateThrowEvent", element_id)
        return self._compensate(element_id, activity)

    def end_compensation(self, element_id: str, *, activity: str | None = None) -> Self:
        """Append an end event that compensates this activity, or everything completed in the scope."""
        self.node("endEvent", element_id)
        return self._compensate(element_id, activity)

    def _compensate(self, element_id: str, activity: str | None) -> Self:
        definition = etree.SubElement(self._nodes[element_id], _bpmn("compensateEventDefinition"))
        if activity is not None:
            definition.set("activityRef", activity)
        return self

    def multi_instance(
        self,
        collection: str,
        *,
        element: str | None = None,
        sequential: bool = False,
        output: str | None = None,
        outputs_to: str | None = None,
        until: str | None = None,
    ) -> Self:
        """Repeat the current activity for each item of a collection, until the completion condition `until` is true.

        Expressions have their leading `=`.
        """
        host = self._nodes[self._current or ""]
        loop = etree.Element(_bpmn("multiInstanceLoopCharacteristics"))
        behind = [child for child in host if child.tag in _BEFORE_LOOP]
        host.insert(len(behind), loop)
        if sequential:
            loop.set("isSequential", "true")
        attributes = _written(
            inputCollection=collection,
            inputElement=element,
            outputCollection=outputs_to,
            outputElement=output,
        )
        etree.SubElement(_extension_elements(loop), _zeebe("loopCharacteristics"), attributes)
        if until is not None:
            etree.SubElement(loop, _bpmn("completionCondition")).text = until
        return self

    def execution_listener(
        self,
        event_type: str,
        *,
        type: str,  # noqa: A002 - the attribute's name in the extension
        retries: str = "3",
    ) -> Self:
        """Add a listener to the current element, or to the process if it has no element yet."""
        host = self.element if self._current is None else self._nodes[self._current]
        parent = _extension_elements(host)
        listeners = parent.find(_zeebe("executionListeners"))
        if listeners is None:
            listeners = etree.SubElement(parent, _zeebe("executionListeners"))
        attributes = {"eventType": event_type, "type": type, "retries": retries}
        etree.SubElement(listeners, _zeebe("executionListener"), attributes)
        return self

    def task_listener(
        self,
        event_type: str,
        *,
        type: str,  # noqa: A002 - the attribute's name in the extension
        retries: str = "3",
    ) -> Self:
        """Add a listener to the current element, a native user task."""
        parent = _extension_elements(self._nodes[self._current or ""])
        listeners = parent.find(_zeebe("taskListeners"))
        if listeners is None:
            listeners = etree.SubElement(parent, _zeebe("taskListeners"))
        attributes = {"eventType": event_type, "type": type, "retries": retries}
        etree.SubElement(listeners, _zeebe("taskListener"), attributes)
        return self

    def end(self, element_id: str | None = None, *, name: str | None = None) -> Self:
        return self.node("endEvent", element_id or self._free_id("end"), name=name)

    def end_terminate(self, element_id: str) -> Self:
        """Append an end event that terminates everything else in its scope."""
        self.node("endEvent", element_id)
        return self._event(element_id, "terminate")

    def end_error(self, element_id: str, *, error: str) -> Self:
        """Append an end event that throws the error that has this id in `definitions`."""
        self.node("endEvent", element_id)
        return self._event(element_id, "error", error)

    def service_task(
        self,
        element_id: str,
        *,
        type: str,  # noqa: A002 - the attribute's name in the extension
        tag: str = "serviceTask",
        name: str | None = None,
        retries: str | None = None,
        headers: Mapping[str, str] = _NO_PAIRS,
        inputs: Mapping[str, str | None] = _NO_PAIRS,
        outputs: Mapping[str, str] = _NO_PAIRS,
        linked: Sequence[Mapping[str, str]] = (),
    ) -> Self:
        """Append a job worker task; `tag` selects another kind than a service task.

        `inputs` and `outputs` map a target variable to its source, an expression with a leading `=`. `linked`
        are the attributes of its linked resources, such as `resourceId` and `bindingType`.
        """
        self.node(tag, element_id, name=name, inputs=inputs, outputs=outputs)
        self._extension(element_id, "taskDefinition", type=type, retries=retries)
        self._headers(element_id, headers)
        if linked:
            resources = self._extension(element_id, "linkedResources")
            for attributes in linked:
                etree.SubElement(resources, _zeebe("linkedResource"), _written(**attributes))
        return self

    def user_task(
        self,
        element_id: str,
        *,
        is_native: bool = True,
        name: str | None = None,
        assignment: Mapping[str, str] = _NO_PAIRS,
        schedule: Mapping[str, str] = _NO_PAIRS,
        priority: str | None = None,
        form: Mapping[str, str] = _NO_PAIRS,
        headers: Mapping[str, str] = _NO_PAIRS,
        inputs: Mapping[str, str | None] = _NO_PAIRS,
        outputs: Mapping[str, str] = _NO_PAIRS,
    ) -> Self:
        """Append a user task.

        `assignment`, `schedule` and `form` are the attributes of the extensions with these names, such as
        `assignee`, `candidateGroups`, `dueDate` and `externalReference`.
        """
        self.node("userTask", element_id, name=name, inputs=inputs, outputs=outputs)
        if is_native:
            self._extension(element_id, "userTask")
        extensions = {"assignmentDefinition": assignment, "taskSchedule": schedule, "formDefinition": form}
        for tag, attributes in extensions.items():
            if attributes:
                self._extension(element_id, tag, **attributes)
        if priority is not None:
            self._extension(element_id, "priorityDefinition", priority=priority)
        self._headers(element_id, headers)
        return self

    def script_task(
        self,
        element_id: str,
        *,
        expression: str,
        result: str,
        inputs: Mapping[str, str | None] = _NO_PAIRS,
        outputs: Mapping[str, str] = _NO_PAIRS,
    ) -> Self:
        """Append a task that evaluates an expression, with its leading `=`, and sets the result variable."""
        self.node("scriptTask", element_id, inputs=inputs, outputs=outputs)
        self._extension(element_id, "script", expression=expression, resultVariable=result)
        return self

    def decision_task(
        self,
        element_id: str,
        *,
        decision: str,
        result: str,
        binding: str | None = None,
        version_tag: str | None = None,
        inputs: Mapping[str, str | None] = _NO_PAIRS,
        outputs: Mapping[str, str] = _NO_PAIRS,
    ) -> Self:
        """Append a business rule task that evaluates a decision, named by id or expression, and sets the result variable."""
        self.node("businessRuleTask", element_id, inputs=inputs, outputs=outputs)
        self._extension(
            element_id,
            "calledDecision",
            decisionId=decision,
            resultVariable=result,
            bindingType=binding,
            versionTag=version_tag,
        )
        return self

    def call_activity(
        self,
        element_id: str,
        *,
        process: str,
        binding: str | None = None,
        version_tag: str | None = None,
        parent_variables: bool = True,
        child_variables: bool = True,
        inputs: Mapping[str, str | None] = _NO_PAIRS,
        outputs: Mapping[str, str] = _NO_PAIRS,
    ) -> Self:
        """Append a call activity that calls a process, named by id or expression.

        By default, all visible variables are passed to the called process instance, and all of its variables
        are returned.
        """
        self.node("callActivity", element_id, inputs=inputs, outputs=outputs)
        self._extension(
            element_id,
            "calledElement",
            processId=process,
            bindingType=binding,
            versionTag=version_tag,
            propagateAllParentVariables=None if parent_variables else "false",
            propagateAllChildVariables=None if child_variables else "false",
        )
        return self

    def manual_task(self, element_id: str, *, name: str | None = None) -> Self:
        return self.node("manualTask", element_id, name=name)

    def task(self, element_id: str, *, name: str | None = None) -> Self:
        return self.node("task", element_id, name=name)

    def exclusive_gateway(self, element_id: str, *, name: str | None = None) -> Self:
        return self.node("exclusiveGateway", element_id, name=name)

    def inclusive_gateway(self, element_id: str, *, name: str | None = None) -> Self:
        return self.node("inclusiveGateway", element_id, name=name)

    def event_based_gateway(self, element_id: str, *, name: str | None = None) -> Self:
        return self.node("eventBasedGateway", element_id, name=name)

    def parallel_gateway(self, element_id: str, *, name: str | None = None) -> Self:
        return self.node("parallelGateway", element_id, name=name)

    def node(
        self,
        tag: str,
        element_id: str,
        *,
        name: str | None = None,
        inputs: Mapping[str, str | None] = _NO_PAIRS,
        outputs: Mapping[str, str] = _NO_PAIRS,
    ) -> Self:
        """Append any flow node by its tag."""
        if self._current is None and not self._has_start:
            self.start()
        self._append(tag, element_id, name)
        self._map(element_id, inputs, outputs)
        return self

    def flow(
        self, *, condition: str | None = None, default: bool = False, element_id: str | None = None
    ) -> Self:
        """Set the condition, default flag or id of the next connection; a condition has its leading `=`."""
        self._next_flow = _NextFlow(element_id, condition, default)
        return self

    def branch(self, element_id: str) -> Self:
        """Continue behind an existing element."""
        if element_id not in self._nodes:
            raise KeyError(f"expected one of {', '.join(self._nodes)}, found {element_id}")
        self._current = element_id
        return self

    def connect_to(self, element_id: str) -> Self:
        """Connect the current element to an existing one, which becomes current."""
        self._connect(element_id)
        return self.branch(element_id)

    def to_xml(self) -> bytes:
        return definitions(self)

    def _append(self, tag: str, element_id: str, name: str | None) -> Self:
        self._nodes[element_id] = etree.SubElement(
            self.element, _bpmn(tag), _written(id=element_id, name=name)
        )
        self._ids.add(element_id)
        if self._current is not None:
            self._connect(element_id)
        self._current = element_id
        return self

    def _connect(self, target: str) -> None:
        source, wanted = self._current or "", self._next_flow
        flow_id = wanted.id or self._free_id(f"{source}_to_{target}")
        self._ids.add(flow_id)
        if self._compensates(source):
            self._nodes[target].set("isForCompensation", "true")
            etree.SubElement(
                self.element, _bpmn("association"), id=flow_id, sourceRef=source, targetRef=target
            )
            return
        flow = etree.SubElement(
            self.element, _bpmn("sequenceFlow"), id=flow_id, sourceRef=source, targetRef=target
        )
        if wanted.condition is not None:
            etree.SubElement(flow, _bpmn("conditionExpression")).text = wanted.condition
        if wanted.default:
            self._nodes[source].set("default", flow_id)
        self._next_flow = _NextFlow()

    def _compensates(self, element_id: str) -> bool:
        node = self._nodes[element_id]
        is_boundary = node.tag == _bpmn("boundaryEvent")
        return is_boundary and node.find(_bpmn("compensateEventDefinition")) is not None

    def _free_id(self, wanted: str) -> str:
        wanted = self._prefix + wanted
        candidates = chain([wanted], (f"{wanted}_{number}" for number in count(2)))
        return next(candidate for candidate in candidates if candidate not in self._ids)

    def _attach(self, element_id: str, host: str) -> None:
        if host not in self._nodes:
            raise KeyError(f"expected one of {', '.join(self._nodes)}, found {host}")
        self._current = None
        self._append("boundaryEvent", element_id, None)
        self._nodes[element_id].set("attachedToRef", host)

    def _map(self, element_id: str, inputs: Mapping[str, str | None], outputs: Mapping[str, str]) -> None:
        if inputs or outputs:
            mapping = self._extension(element_id, "ioMapping")
            _add_mappings(mapping, "input", inputs)
            _add_mappings(mapping, "output", outputs)

    def _event(self, element_id: str, kind: str, reference: str | None = None) -> Self:
        """Add a definition to an event, with the id that it refers to."""
        definition = etree.SubElement(self._nodes[element_id], _bpmn(f"{kind}EventDefinition"))
        if reference is not None:
            definition.set(f"{kind}Ref", reference)
        return self

    def _timer(self, element_id: str, timer: Mapping[str, str]) -> Self:
        definition = etree.SubElement(self._nodes[element_id], _bpmn("timerEventDefinition"))
        for kind, value in timer.items():
            etree.SubElement(definition, _bpmn(f"time{kind.title()}")).text = value
        return self

    def _headers(self, element_id: str, headers: Mapping[str, str]) -> None:
        if headers:
            parent = self._extension(element_id, "taskHeaders")
            for key, value in headers.items():
                etree.SubElement(parent, _zeebe("header"), key=key, value=value)

    def _message(self, element_id: str, name: str, key: str | None) -> Self:
        """Let an element wait for a message, which is added to the file with its own id."""
        node, message_id = self._nodes[element_id], f"{self._root_id}_{element_id}_message"
        message = etree.Element(_bpmn("message"), id=message_id, name=name)
        if key is not None:
            etree.SubElement(_extension_elements(message), _zeebe("subscription"), correlationKey=key)
        self.roots.append(message)
        if node.tag == _bpmn("receiveTask"):
            node.set("messageRef", message_id)
        else:
            etree.SubElement(node, _bpmn("messageEventDefinition"), messageRef=message_id)
        return self

    def _signal(self, element_id: str, name: str) -> Self:
        """Let an event wait for a signal or broadcast it; the signal is added to the file with its own id."""
        signal_id = f"{self._root_id}_{element_id}_signal"
        self.roots.append(etree.Element(_bpmn("signal"), id=signal_id, name=name))
        return self._event(element_id, "signal", signal_id)

    def _extension(self, element_id: str, tag: str, **attributes: str | None) -> XmlElement:
        parent = _extension_elements(self._nodes[element_id])
        return etree.SubElement(parent, _zeebe(tag), _written(**attributes))


def _extension_elements(element: XmlElement) -> XmlElement:
    found = element.find(_bpmn("extensionElements"))
    if found is None:
        found = etree.Element(_bpmn("extensionElements"))
        element.insert(0, found)
    return found


def _add_mappings(parent: XmlElement, tag: str, mappings: Mapping[str, str | None]) -> None:
    for target, source in mappings.items():
        etree.SubElement(parent, _zeebe(tag), _written(source=source, target=target))


def _written(**attributes: str | None) -> dict[str, str]:
    return {name: text for name, text in attributes.items() if text is not None}


def _bpmn(tag: str) -> str:
    return f"{{{BPMN_NAMESPACE}}}{tag}"


def _zeebe(tag: str) -> str:
    return f"{{{ZEEBE_NAMESPACE}}}{tag}"


_BEFORE_LOOP = frozenset({_bpmn("extensionElements"), _bpmn("incoming"), _bpmn("outgoing")})
