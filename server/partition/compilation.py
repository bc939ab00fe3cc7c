"""Compiles large models outside the event loop, before the commands that need them are queued.

The loop of a partition compiles models on demand, and everyone waits meanwhile: a model of a megabyte takes
seconds. The loop therefore compiles only small models, and models that due commands need after a recovery.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial

from server.bpmn.reader import BpmnReadError
from server.dmn import DmnError
from server.engine import (
    State,
    decision_commands,
    deployment_commands,
    message_commands,
    migration_commands,
    process_instance_commands,
    signal_commands,
)
from server.engine.addresses import OwnersOf
from server.engine.commands import Command
from server.engine.definitions import executable_process
from server.engine.keys import Key
from server.platform.tenant_threads import TenantThreads

LARGE_OCTETS = 65_536
_WORKERS = 2
_MOST_WAITING = 1_000
_MOST_OF_ONE_TENANT = 250

# Compiles a large model, or returns at once if it is compiled.
_Model = Callable[[], object]


class Compilation:
    """Compiles the models that the commands of one partition need."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._threads = TenantThreads(
            "compilations", _WORKERS, most_waiting=_MOST_WAITING, most_of_one=_MOST_OF_ONE_TENANT
        )

    async def prepare(self, command: Command) -> None:
        """Return when the large models of a command are compiled; raises ResourceExhausted."""
        if isinstance(command, deployment_commands.AdoptDefinition):
            return
        for compiled in _MODELS.get(type(command), _of_owners)(self._state, command):
            await self._threads.run(command.tenant_id, _attempt, compiled)


def _attempt(compiled: Callable[[], object]) -> None:
    """Compile a model; errors are ignored here, because the engine rejects the command with the reason."""
    with suppress(BpmnReadError, DmnError):
        compiled()


def _of_owners(state: State, command: Command) -> Sequence[_Model]:
    """The models of loaded process instances; those of evicted instances are not known."""
    address = command.address
    if not isinstance(address, OwnersOf):
        return ()
    instances = map(state.instances.get, state.owners_of(address.keys))
    keys = {instance.head.process_definition_key for instance in instances if instance is not None}
    return [model for key in keys for model in _definition(state, key)]


def _migrated(state: State, command: migration_commands.MigrateProcessInstance) -> Sequence[_Model]:
    return (*_definition(state, command.target_process_definition_key), *_of_owners(state, command))


def _created(state: State, command: process_instance_commands.CreateProcessInstance) -> Iterable[_Model]:
    if command.process_definition_key is not None:
        return _definition(state, command.process_definition_key)
    return _version(state, command.tenant_id, command.process_definition_id, command.version)


def _deployed(_: State, command: deployment_commands.DeployResources) -> Iterator[_Model]:
    for resource in command.resources:
        for process_id in resource.process_ids if len(resource.content) >= LARGE_OCTETS else ():
            yield partial(executable_process, resource.content, process_id)


def _definition(state: State, key: Key) -> Sequence[_Model]:
    definition = state.definitions.get(key)
    if definition is None or len(definition.content) < LARGE_OCTETS:
        return ()
    return (partial(executable_process, definition.content, definition.process_definition_id),)


def _version(state: State, tenant_id: str, process_id: str, number: int | None) -> Sequence[_Model]:
    found = (
        state.latest(tenant_id, process_id)
        if number is None
        else state.version(tenant_id, process_id, number)
    )
    return () if found is None else _definition(state, found.key)


def _begun(
    state: State,
    command: message_commands.PublishMessage
    | message_commands.CorrelateMessage
    | signal_commands.BroadcastSignal,
) -> Iterator[_Model]:
    """The processes that the message or signal starts."""
    if isinstance(command, signal_commands.BroadcastSignal):
        line = state.starts.signals.get((command.tenant_id, command.signal_name))
    else:
        line = state.starts.messages.get((command.tenant_id, command.name))
    for process_id in list(line.after()) if line is not None else ():
        if line is not None and process_id in line:
            yield from _definition(state, line[process_id].process_definition_key)


def _begun_by_conditions(state: State, command: signal_commands.EvaluateConditionals) -> Iterator[_Model]:
    """The processes with conditional start events, unless they are too many to compile in advance."""
    key = command.process_definition_key
    line = state.starts.conditions.get(command.tenant_id)
    if key is not None:
        yield from _definition(state, key)
    elif line is not None and len(line) <= state.limits.conditional_starts:
        for definition_key in [line[process_id] for process_id in line.after()]:
            yield from _definition(state, definition_key)


def _decision(state: State, command: decision_commands.EvaluateDecision) -> Iterator[_Model]:
    key, known = command.decision_definition_key, state.decisions
    decision = (
        known.latest(command.tenant_id, command.decision_definition_id) if key is None else known.get(key)
    )
    if decision is not None:
        graph = decision.graph
        if len(graph.content) + sum(map(len, graph.imports)) >= LARGE_OCTETS:
            yield lambda: decision.model


_MODELS: Mapping[type[Command], Callable[..., Iterable[_Model]]] = {
    deployment_commands.DeployResources: _deployed,
    process_instance_commands.CreateProcessInstance: _created,
    migration_commands.MigrateProcessInstance: _migrated,
    decision_commands.EvaluateDecision: _decision,
    message_commands.PublishMessage: _begun,
    message_commands.CorrelateMessage: _begun,
    signal_commands.BroadcastSignal: _begun,
    signal_commands.EvaluateConditionals: _begun_by_conditions,
}
