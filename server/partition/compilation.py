"""Compiles large models beside the event loop, before the commands that need them are queued.

The loop of a partition compiles what it finds uncompiled, and everybody waits for that: a model of a megabyte takes
seconds. So the loop is left with small models, and with models that scheduled commands need after a recovery.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial

from server.bpmn.reader import BpmnReadError
from server.dmn import DmnError
from server.engine import State, commands
from server.engine.addresses import OwnersOf
from server.engine.commands import Command
from server.engine.definitions import executable_process
from server.engine.keys import Key
from server.platform.tenant_threads import TenantThreads

LARGE_OCTETS = 65_536
_WORKERS = 2
_MOST_WAITING = 1_000
_MOST_OF_ONE_TENANT = 250

# A model with its size: calling it compiles the model, or finds it compiled.
_Model = tuple[int, Callable[[], object]]


class Compilation:
    """Of the models that the commands of one partition need."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._threads = TenantThreads(
            "compilations", _WORKERS, most_waiting=_MOST_WAITING, most_of_one=_MOST_OF_ONE_TENANT
        )

    async def prepare(self, command: Command) -> None:
        """Return when the large models of a command are compiled; raises ResourceExhausted."""
        if isinstance(command, commands.AdoptDefinition):
            return
        for octets, compiled in _models(self._state, command):
            if octets >= LARGE_OCTETS:
                await self._threads.run(command.tenant_id, _attempt, compiled)


def _attempt(compiled: Callable[[], object]) -> None:
    """Compile a model; one that a later version refuses is refused by the engine, with the reason."""
    with suppress(BpmnReadError, DmnError):
        compiled()


def _models(state: State, command: Command) -> Iterator[_Model]:
    match command:
        case commands.DeployResources():
            yield from _deployed(command)
        case commands.CreateProcessInstance():
            key, process_id = command.process_definition_key, command.process_definition_id
            if key is not None:
                yield from _definition(state, key)
            else:
                yield from _version(state, command.tenant_id, process_id, command.version)
        case commands.EvaluateDecision():
            yield from _decision(state, command)
        case commands.PublishMessage() | commands.CorrelateMessage() | commands.BroadcastSignal():
            yield from _begun(state, command)
        case commands.EvaluateConditionals():
            yield from _begun_by_conditions(state, command)
        case _:
            yield from _of_others(state, command)


def _of_others(state: State, command: Command) -> Iterator[_Model]:
    if isinstance(command, commands.MigrateProcessInstance):
        yield from _definition(state, command.target_process_definition_key)
    if isinstance(command.address, OwnersOf):
        yield from _of_instances(state, command.address.keys)


def _deployed(command: commands.DeployResources) -> Iterator[_Model]:
    for resource in command.resources:
        for process_id in resource.process_ids:
            yield len(resource.content), partial(executable_process, resource.content, process_id)


def _definition(state: State, key: Key) -> Iterator[_Model]:
    definition = state.definitions.get(key)
    if definition is not None:
        content, process_id = definition.content, definition.process_definition_id
        yield len(content), partial(executable_process, content, process_id)


def _version(state: State, tenant_id: str, process_id: str, number: int | None) -> Iterator[_Model]:
    found = (
        state.latest(tenant_id, process_id)
        if number is None
        else state.version(tenant_id, process_id, number)
    )
    if found is not None:
        yield from _definition(state, found.key)


def _begun(
    state: State, command: commands.PublishMessage | commands.CorrelateMessage | commands.BroadcastSignal
) -> Iterator[_Model]:
    """The processes that begin with a message or a signal."""
    if isinstance(command, commands.BroadcastSignal):
        line = state.starts.signals.get((command.tenant_id, command.signal_name))
    else:
        line = state.starts.messages.get((command.tenant_id, command.name))
    for process_id in list(line.after()) if line is not None else ():
        if line is not None and process_id in line:
            yield from _definition(state, line[process_id].process_definition_key)


def _begun_by_conditions(state: State, command: commands.EvaluateConditionals) -> Iterator[_Model]:
    """The processes that begin with conditions; those of many that the variables begin are not known yet."""
    key = command.process_definition_key
    line = state.starts.conditions.get(command.tenant_id)
    if key is not None:
        yield from _definition(state, key)
    elif line is not None and len(line) <= state.limits.conditional_starts:
        for definition_key in [line[process_id] for process_id in line.after()]:
            yield from _definition(state, definition_key)


def _decision(state: State, command: commands.EvaluateDecision) -> Iterator[_Model]:
    key, known = command.decision_definition_key, state.decisions
    decision = (
        known.latest(command.tenant_id, command.decision_definition_id) if key is None else known.get(key)
    )
    if decision is not None:
        graph = decision.graph
        yield len(graph.content) + sum(map(len, graph.imports)), lambda: decision.model


def _of_instances(state: State, keys: tuple[Key, ...]) -> Iterator[_Model]:
    """The models of process instances that are in memory; of the others nothing is known before they are loaded."""
    for key in state.owners_of(keys):
        instance = state.instances.get(key)
        if instance is not None:
            yield from _definition(state, instance.head.process_definition_key)
