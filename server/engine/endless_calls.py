"""Refuses a deployment of processes that call themselves for ever: no start of them waits, and none can end.

Only calls of a process by its id are seen. A choice of a gateway counts as a way out, unless each choice leads to
such a call; a multi-instance activity may have no items, a join may never be complete, and an event may
interrupt the path.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from server.bpmn.executable import BindingType, Element, ElementType, ExecutableProcess, Static
from server.engine.definitions import executable_process
from server.engine.deployment_commands import DeployResources
from server.engine.rejection import Rejected, RejectionType
from server.engine.state import State

_MOST_ELEMENTS: Final = 200
"""A longer path of elements counts as a way out."""

_PASSED: Final = frozenset({ElementType.START_EVENT, ElementType.TASK, ElementType.MANUAL_TASK})
_CHOICES: Final = frozenset({ElementType.EXCLUSIVE_GATEWAY, ElementType.INCLUSIVE_GATEWAY})
_FORKS: Final = frozenset({ElementType.PARALLEL_GATEWAY, ElementType.INCLUSIVE_GATEWAY})

# Returns the process that a call activity certainly starts, or None.
Called = Callable[[Element], ExecutableProcess | None]


def expect_ends(command: DeployResources, state: State) -> None:
    """Raises Rejected with the path of the first endless recursion."""
    deployed = {
        process_id: executable_process(resource.content, process_id)
        for resource in command.resources
        for process_id in resource.process_ids
    }

    def called(activity: Element) -> ExecutableProcess | None:
        return _called(activity, command.tenant_id, deployed, state)

    endless = _endless(deployed, called)
    path = next(
        (_path(process, endless, called) for process in deployed.values() if process in endless), None
    )
    if path is not None:
        raise Rejected(
            RejectionType.INVALID_ARGUMENT,
            "Expected to deploy new resources, but encountered the following errors:\n"
            f"Process calls itself without a wait state and without an end: {' > '.join(path)}",
        )


def _called(
    activity: Element, tenant_id: str, deployed: Mapping[str, ExecutableProcess], state: State
) -> ExecutableProcess | None:
    element = activity.called_element
    if element is None or not isinstance(element.process_id, Static):
        return None
    process_id, binding = element.process_id.text, element.binding
    own = deployed.get(process_id)
    if own is not None and (
        binding.type is not BindingType.VERSION_TAG or own.version_tag == binding.version_tag
    ):
        return own
    if binding.type is BindingType.LATEST:
        definition = state.latest(tenant_id, process_id)
    elif binding.type is BindingType.VERSION_TAG:
        definition = state.tagged_version(tenant_id, process_id, binding.version_tag)
    else:
        definition = None
    return None if definition is None else definition.process


def _endless(
    deployed: Mapping[str, ExecutableProcess], called: Called
) -> Mapping[ExecutableProcess, Element]:
    """The endless processes, each with its call activity that starts the next one.

    All processes that call others are endless until one of them has a way out, which is one for its callers, too.
    """
    endless: dict[ExecutableProcess, Element] = {}
    known = list(deployed.values())
    for process in known:
        activity = _certain_call(process, lambda activity: called(activity) is not None)
        if activity is not None:
            endless[process] = activity
            known += [each for each in _statically_called(process, called) if each not in known]
    has_changed = True
    while has_changed:
        has_changed = False
        for process in list(endless):
            activity = _certain_call(process, lambda activity: called(activity) in endless)
            has_changed = has_changed or activity is None
            if activity is None:
                del endless[process]
            else:
                endless[process] = activity
    return endless


def _statically_called(process: ExecutableProcess, called: Called) -> Iterator[ExecutableProcess]:
    for element in process.elements.values():
        found = called(element)
        if found is not None:
            yield found


def _path(
    process: ExecutableProcess, endless: Mapping[ExecutableProcess, Element], called: Called
) -> list[str]:
    """Process ids and call activities from a process until a process comes again."""
    path, passed = [process.id], {process}
    while True:
        activity = endless[process]
        following = called(activity)
        if following is None:
            return path
        process = following
        path += [activity.id, process.id]
        if process in passed:
            return path
        passed.add(process)


def _certain_call(process: ExecutableProcess, is_wanted: Callable[[Element], bool]) -> Element | None:
    """A wanted call activity that every instance of the process starts before it waits, or None."""
    start = process.root.none_start
    if start is None or process.root.start_listeners or any(map(_interrupts, process.elements.values())):
        return None
    return _Search(is_wanted).call_from(start, 0)


def _interrupts(element: Element) -> bool:
    """Whether the element may end other paths of its process."""
    return bool(element.catches) or (element.type is ElementType.END_EVENT and element.result is not None)


class _Search:
    """Looks for a call activity that every path from an element leads to."""

    def __init__(self, is_wanted: Callable[[Element], bool]) -> None:
        self._is_wanted = is_wanted
        self._found: dict[Element, Element | None] = {}

    def call_from(self, element: Element, distance: int) -> Element | None:
        if element not in self._found:
            self._found[element] = None
            if distance < _MOST_ELEMENTS and not element.start_listeners:
                self._found[element] = self._certain(element, distance + 1)
        return self._found[element]

    def _certain(self, element: Element, distance: int) -> Element | None:
        if element.type is ElementType.CALL_ACTIVITY:
            return element if self._is_wanted(element) else None
        if element.type is ElementType.SUB_PROCESS:
            return None if element.none_start is None else self.call_from(element.none_start, distance)
        is_join = element.type in _FORKS and len(element.incoming) > 1
        if is_join or element.end_listeners:
            return None
        calls = [
            self.call_from(flow.target, distance)
            for flow in element.outgoing
            if _is_taken(element, flow.condition)
        ]
        found = [call for call in calls if call is not None]
        if element.type in _CHOICES:
            return found[0] if found and len(found) == len(calls) else None
        return found[0] if found and (element.type in _PASSED or element.type in _FORKS) else None


def _is_taken(element: Element, condition: object) -> bool:
    """Whether a flow counts: every choice of a gateway, and other flows without a condition."""
    return condition is None or element.type in _CHOICES
