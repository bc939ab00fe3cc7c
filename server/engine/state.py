"""The state of one partition: process instances, definitions, and their indexes.

The documents are the truth; the indexes are derived from them (`State.adopt`). Only `apply` changes either,
through the journal of the state.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Final

import msgspec

from server.engine import versions
from server.engine.batch_operations import KnownBatchOperations
from server.engine.call_trees import CallTrees
from server.engine.cluster_variables import CONTEXT_NAME, KnownClusterVariables
from server.engine.decisions import KnownDecisions
from server.engine.definitions import Definition
from server.engine.form_events import FormDeployed
from server.engine.formats import ClusterFormat
from server.engine.generic_resource_events import GenericResourceDeployed
from server.engine.global_task_listeners import KnownGlobalTaskListeners
from server.engine.journal import Journal
from server.engine.keys import COUNTER_BITS, Key, first_key
from server.engine.known_files import KnownFiles
from server.engine.limits import DEFAULT_LIMITS, EngineLimits
from server.engine.messages import KnownMessages
from server.engine.pages import DocumentId, Kind
from server.engine.process_instance import Job, JobState, ProcessInstance
from server.engine.signals import KnownSignals
from server.engine.start_timers import KnownStartTimers
from server.engine.starts import KnownStarts
from server.engine.subscriptions import AnySubscription, ConditionalSubscription, SignalSubscription

# Where jobs are offered: tenant id and job type.
Place = tuple[str, str]


class Offer(msgspec.Struct, frozen=True, gc=False):
    """An offered job: its process instance, and the number of the offer; lower numbers are older."""

    process_instance_key: Key
    number: int


JobQueue = OrderedDict[Key, Offer]

# Looking up a member of an enumeration costs more than comparing with a constant.
_ACTIVATABLE: Final = JobState.ACTIVATABLE


class NotLoaded(Exception):
    """These process instances must be loaded before the command can be handled."""

    def __init__(self, keys: Iterable[Key]) -> None:
        super().__init__()
        self.documents = frozenset(DocumentId(Kind.PROCESS_INSTANCE, key) for key in keys)


class State:
    """The state of one partition; process instances in `evicted` have only their indexes here."""

    def __init__(self, partition_id: int = 1, limits: EngineLimits = DEFAULT_LIMITS) -> None:
        self.limits = limits
        # Set by the node as other nodes come and go; a single partition has every feature.
        self.format = ClusterFormat()
        # Returns how many more process instances the tenant may call, None for any number; set by the
        # partition.
        self.room: Callable[[str], int | None] = _unlimited
        self.journal = Journal()
        self.partition_id = partition_id
        self.last_key = first_key(partition_id)
        # Higher keys were assigned by the current command.
        self.last_key_before = self.last_key
        self.last_offer = 0
        self.instances: dict[Key, ProcessInstance] = {}
        self.evicted: set[Key] = set()
        self.definitions: dict[Key, Definition] = {}
        self.versions: dict[tuple[str, str], versions.Versions] = {}
        # The highest version number ever used, deleted versions included, by tenant and process id.
        self.numbers: dict[tuple[str, str], int] = {}
        # Index: the versions with a tag, by tenant, process id and tag.
        self.tagged: dict[tuple[str, str, str], versions.Versions] = {}
        self.decisions = KnownDecisions()
        self.forms = KnownFiles[FormDeployed]()
        self.generic_resources = KnownFiles[GenericResourceDeployed]()
        self.cluster_variables = KnownClusterVariables()
        self.global_task_listeners = KnownGlobalTaskListeners()
        # The number of partitions that are homes of messages, counted from the first.
        self.message_homes = 1
        self.messages = KnownMessages()
        self.signals = KnownSignals()
        self.batches = KnownBatchOperations()
        self.calls = CallTrees()
        # Start events of the latest versions.
        self.starts = KnownStarts()
        self.start_timers = KnownStartTimers()
        # Index: process instances that messages with correlation keys started, by tenant, process id and
        # correlation key.
        self.started: dict[tuple[str, str, str], Key] = {}
        # Tenants that are being removed, with the numbers of their removals: their commands are refused.
        self.removed_tenants: dict[str, int] = {}
        # Indexes: the process instance of a job, incident, subscription or user task; offered jobs, oldest
        # offer first.
        self.owners: dict[Key, Key] = {}
        self.offers: dict[Place, JobQueue] = {}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, State) and self._facts() == other._facts()

    __hash__ = None  # type: ignore[assignment]  # mutable

    def _facts(self) -> dict[str, object]:
        """Everything except limits, format, homes, and data of the current command."""
        passing = {"journal", "last_key_before", "limits", "format", "message_homes", "room"}
        return {name: value for name, value in vars(self).items() if name not in passing}

    def clear(self) -> None:
        """Forget everything."""
        vars(self).update(vars(State(self.partition_id, self.limits)))

    def claim(self, key: Key) -> None:
        """Mark this key as used, if it belongs to this partition."""
        if key > self.last_key and key >> COUNTER_BITS == self.partition_id:
            self.last_key = key

    def begin(self, *, is_thorough: bool = False) -> None:
        """Begin a command: until `journal.close`, `journal.roll_back` undoes its changes.

        A thorough journal lets a part of the command be undone that changed what the command created.
        """
        self.last_key_before = self.last_key
        self.journal.open(self._reset, self.last_key, self.last_offer, is_thorough=is_thorough)

    def savepoint(self) -> Callable[[], None]:
        """Return the function that undoes the changes of the command since this call."""
        savepoint, last_key, last_offer = self.journal.savepoint(), self.last_key, self.last_offer

        def undo() -> None:
            self.journal.return_to(savepoint)
            self._reset(last_key, last_offer)

        return undo

    def _reset(self, last_key: Key, last_offer: int) -> None:
        self.last_key, self.last_offer = last_key, last_offer

    def instance(self, key: Key) -> ProcessInstance | None:
        """The live process instance with this key, or None; raises NotLoaded."""
        if key in self.evicted:
            raise NotLoaded((key,))
        return self.instances.get(key)

    def expect_loaded(self, keys: Iterable[Key]) -> None:
        """Raises NotLoaded with all of these keys that are evicted."""
        missing = self.evicted.intersection(keys)
        if missing:
            raise NotLoaded(missing)

    def owner_of(self, key: Key) -> ProcessInstance | None:
        """The process instance with this job, open incident, subscription or user task; raises NotLoaded."""
        owner = self.owners.get(key)
        return self.instance(owner) if owner is not None else None

    def owners_of(self, keys: Iterable[Key]) -> set[Key]:
        """The keys of the process instances that own these entities; other keys are kept as they are."""
        return {self.owners.get(key, key) for key in keys}

    def definition_of(self, instance: ProcessInstance) -> Definition:
        return self.definitions[instance.head.process_definition_key]

    def latest(self, tenant_id: str, process_definition_id: str) -> Definition | None:
        keys = self.versions.get((tenant_id, process_definition_id))
        return self.definitions[versions.latest(keys)] if keys else None

    def version(self, tenant_id: str, process_definition_id: str, number: int) -> Definition | None:
        key = self.versions.get((tenant_id, process_definition_id), {}).get(number)
        return self.definitions[key] if key is not None else None

    def tagged_version(self, tenant_id: str, process_definition_id: str, tag: str) -> Definition | None:
        """The latest version with this tag."""
        keys = self.tagged.get((tenant_id, process_definition_id, tag))
        return self.definitions[versions.latest(keys)] if keys else None

    def deployed_with(
        self, tenant_id: str, process_definition_id: str, deployment_key: Key
    ) -> Definition | None:
        """The version that this deployment contained."""
        keys = self.versions.get((tenant_id, process_definition_id), {})
        key = versions.deployed_with(keys, deployment_key, self._deployment_of)
        return self.definitions[key] if key is not None else None

    def _deployment_of(self, key: Key) -> Key:
        return self.definitions[key].deployment_key

    def next_version(self, tenant_id: str, process_definition_id: str) -> int:
        return self.numbers.get((tenant_id, process_definition_id), 0) + 1

    def define(self, definition: Definition) -> None:
        """Add a version of a process. A deleted version is kept for its running process instances."""
        name = (definition.tenant_id, definition.process_definition_id)
        self.journal.put(self.numbers, name, max(definition.version, self.numbers.get(name, 0)))
        self.journal.note(self._undefine, definition)
        if definition.is_deleted:
            self.definitions[definition.key] = definition
        else:
            self._list(definition)

    def delete(self, definition: Definition) -> None:
        """Mark a version as deleted; the previous version becomes the latest if this one was."""
        self.journal.note(self._list, definition)
        self._undefine(definition)
        self.definitions[definition.key] = msgspec.structs.replace(definition, is_deleted=True)

    def purge_definition(self, key: Key) -> None:
        """Remove a version of a process, deleted or not, as a step of the removal of its tenant."""
        definition = self.definitions.get(key)
        if definition is None:
            return
        if definition.is_deleted:
            self.journal.drop(self.definitions, key)
        else:
            self.journal.note(self._list, definition)
            self._undefine(definition)

    def forget_numbers(self, tenant_id: str) -> None:
        """Forget the version numbers of a tenant without definitions."""
        for name in [name for name in self.numbers if name[0] == tenant_id]:
            self.journal.drop(self.numbers, name)
        for known in (self.decisions, self.forms, self.generic_resources):
            known.forget_numbers(tenant_id, self.journal)

    def _list(self, definition: Definition) -> None:
        self.definitions[definition.key] = definition
        name = (definition.tenant_id, definition.process_definition_id)
        before = self.latest(*name)
        versions.add(self.versions.setdefault(name, {}), definition.version, definition.key)
        if definition.version_tag:
            place = (*name, definition.version_tag)
            versions.add(self.tagged.setdefault(place, {}), definition.version, definition.key)
        self._renew_starts(before, self.latest(*name))

    def _undefine(self, definition: Definition) -> None:
        """Remove a version of a process."""
        name = (definition.tenant_id, definition.process_definition_id)
        before = self.latest(*name)
        del self.definitions[definition.key]
        versions.forget(self.versions, name, definition.version)
        if definition.version_tag:
            versions.forget(self.tagged, (*name, definition.version_tag), definition.version)
        self._renew_starts(before, self.latest(*name))

    def _renew_starts(self, before: Definition | None, latest: Definition | None) -> None:
        if before is latest:
            return
        if before is not None:
            self.starts.close(before)
        if latest is not None:
            self.starts.open(latest)

    def enlist(self, instance: ProcessInstance, subscription: AnySubscription) -> None:
        """Add a subscription to the index of signals or of cluster variable conditions, if it is one."""
        if isinstance(subscription, SignalSubscription):
            place = (instance.head.tenant_id, subscription.signal_name)
            self.signals.open(place, subscription.key, instance.head.key)
        elif _reads_cluster_variables(subscription):
            self.signals.open_condition(instance.head.tenant_id, subscription.key, instance.head.key)

    def unlist(self, instance: ProcessInstance, subscription: AnySubscription) -> None:
        """Remove a subscription from the index of signals or of cluster variable conditions."""
        if isinstance(subscription, SignalSubscription):
            self.signals.close((instance.head.tenant_id, subscription.signal_name), subscription.key)
        elif _reads_cluster_variables(subscription):
            self.signals.close_condition(instance.head.tenant_id, subscription.key)

    def add_job(self, instance: ProcessInstance, job: Job) -> None:
        instance.jobs[job.key] = job
        instance.elements[job.element_instance_key].job_key = job.key
        self.owners[job.key] = instance.head.key

    def remove_job(self, instance: ProcessInstance, job: Job) -> None:
        del instance.jobs[job.key]
        del self.owners[job.key]
        instance.elements[job.element_instance_key].job_key = None

    def offer(self, instance: ProcessInstance, job: Job) -> None:
        """Offer a job, after all jobs that are on offer."""
        self.last_offer += 1
        if job.key > self.last_key_before:
            # This command created the job, and the undo removes it.
            job.offer = self.last_offer
        else:
            self.journal.alter(job, "offer", self.last_offer)
        self.journal.note(self._unqueue, instance, job)
        self._enqueue(instance, job)

    def withdraw(self, instance: ProcessInstance, job: Job) -> None:
        """Withdraw a job from the offers, if it is on offer."""
        if job.state is _ACTIVATABLE:
            self.journal.note(self._requeue, instance, job)
            self._unqueue(instance, job)

    def adopt(self, *instances: ProcessInstance) -> None:
        """Add documents from the store and build their indexes; offered jobs return to their positions."""
        for instance in instances:
            self.take_in(instance)
        self._order({place for instance in instances for place in _places(instance)})

    def take_in(self, instance: ProcessInstance) -> None:
        """Add one of many documents from the store; call `order_offers` after the last."""
        self.instances[instance.head.key] = instance
        self.calls.take_in(instance)
        if instance.message_start is not None:
            self.started[instance.message_start] = instance.head.key
        for job in instance.jobs.values():
            self.owners[job.key] = instance.head.key
            if job.state is _ACTIVATABLE:
                self.last_offer = max(self.last_offer, job.offer)
                self._enqueue(instance, job)
        for key in (*instance.incidents, *instance.subscriptions, *instance.user_tasks):
            self.owners[key] = instance.head.key
        for subscription in instance.subscriptions.values():
            self.enlist(instance, subscription)

    def order_offers(self) -> None:
        """Sort all offered jobs by the numbers of their offers."""
        self._order(set(self.offers))

    def evict(self, instance_key: Key) -> None:
        """Drop a document that the store has; its indexes stay."""
        del self.instances[instance_key]
        self.evicted.add(instance_key)

    def bring_back(self, instance: ProcessInstance) -> None:
        """Add the document of an evicted process instance again."""
        self.evicted.remove(instance.head.key)
        self.instances[instance.head.key] = instance

    def release(self, instance_key: Key) -> None:
        """Remove a process instance with its indexes."""
        instance = self.journal.drop(self.instances, instance_key)
        if instance is None:
            return
        self.calls.release(instance, self.journal)
        if instance.message_start is not None:
            self.journal.drop(self.started, instance.message_start)
        for job in instance.jobs.values():
            self.journal.drop(self.owners, job.key)
            self.withdraw(instance, job)
        for key in (*instance.incidents, *instance.subscriptions, *instance.user_tasks):
            self.journal.drop(self.owners, key)
        for subscription in instance.subscriptions.values():
            self.journal.note(self.enlist, instance, subscription)
            self.unlist(instance, subscription)

    def _unqueue(self, instance: ProcessInstance, job: Job) -> None:
        place = (instance.head.tenant_id, job.type)
        queue = self.offers[place]
        del queue[job.key]
        if not queue:
            del self.offers[place]

    def _requeue(self, instance: ProcessInstance, job: Job) -> None:
        """Put a job back at the position of its offer, usually the first."""
        place = (instance.head.tenant_id, job.type)
        self._enqueue(instance, job)
        queue = self.offers[place]
        if job.offer <= next(iter(queue.values())).number:
            queue.move_to_end(job.key, last=False)
        else:
            self._order({place})

    def _enqueue(self, instance: ProcessInstance, job: Job) -> None:
        place = (instance.head.tenant_id, job.type)
        queue = self.offers.get(place)
        if queue is None:
            queue = self.offers[place] = OrderedDict()
        queue[job.key] = Offer(instance.head.key, job.offer)

    def _order(self, places: set[Place]) -> None:
        for place in self.offers.keys() & places:
            self.offers[place] = OrderedDict(sorted(self.offers[place].items(), key=_offered))


def _unlimited(_: str) -> int | None:
    return None


def _reads_cluster_variables(subscription: AnySubscription) -> bool:
    return isinstance(subscription, ConditionalSubscription) and CONTEXT_NAME in subscription.variable_names


def _places(instance: ProcessInstance) -> Iterable[Place]:
    return ((instance.head.tenant_id, job.type) for job in instance.jobs.values())


def _offered(entry: tuple[Key, Offer]) -> int:
    return entry[1].number
