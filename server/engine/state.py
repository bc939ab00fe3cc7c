"""What the engine knows: one document per live process instance, and the indexes that find into them.

The documents are the truth; the indexes follow from them (`State.adopt`). Only `apply` changes either.
"""

from collections import OrderedDict
from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

import msgspec

from server.bpmn.executable import Element, ElementType, ExecutableProcess
from server.engine.decisions import KnownDecisions
from server.engine.events import InstanceHead
from server.engine.incidents import ErrorType
from server.engine.keys import Key, first_key, partition_of
from server.engine.lifecycle import ElementState


class JobState(StrEnum):
    ACTIVATABLE = "ACTIVATABLE"
    ACTIVATED = "ACTIVATED"
    BACKING_OFF = "BACKING_OFF"
    FAILED = "FAILED"
    ERROR_THROWN = "ERROR_THROWN"


class Variable(msgspec.Struct, gc=False):
    key: Key
    value: str


class ElementInstance(msgspec.Struct):
    """`children` counts the element instances inside it, `flows` the sequence flows taken there and not yet used up.

    `joins` counts, for each flow into a joining gateway inside it, the arrivals that wait for the others.
    """

    key: Key
    scope_key: Key | None
    element_id: str
    type: ElementType
    state: ElementState = ElementState.ACTIVATING
    children: int = 0
    flows: int = 0
    joins: dict[str, int] = {}
    job_key: Key | None = None
    incident_key: Key | None = None


class Job(msgspec.Struct):
    """`due` is the deadline of an activated job, the next offer of one that backs off.

    `offer` numbers the offers of the partition: it is the job's place among those on offer.
    """

    key: Key
    element_instance_key: Key
    element_id: str
    type: str
    retries: int
    headers: dict[str, str]
    state: JobState = JobState.ACTIVATABLE
    worker: str = ""
    due: datetime | None = None
    incident_key: Key | None = None
    offer: int = 0


class OpenIncident(msgspec.Struct):
    key: Key
    element_instance_key: Key
    job_key: Key | None
    error_type: ErrorType


class ProcessInstance(msgspec.Struct):
    """The document of a live process instance; its own element instance carries its key."""

    head: InstanceHead
    elements: dict[Key, ElementInstance] = {}
    variables: dict[Key, dict[str, Variable]] = {}
    jobs: dict[Key, Job] = {}
    incidents: dict[Key, OpenIncident] = {}


class Definition(msgspec.Struct, frozen=True):
    """A deployed version of a process."""

    key: Key
    tenant_id: str
    version: int
    resource_name: str
    checksum: str
    process: ExecutableProcess

    def element(self, element_id: str) -> Element:
        return self.process.elements[element_id]


# Where jobs are offered: tenant and job type.
Place = tuple[str, str]


class Offer(NamedTuple):
    """A job on offer: its process instance, and the number that says how long it has been offered."""

    process_instance_key: Key
    number: int


JobQueue = OrderedDict[Key, Offer]


class NotLoaded(Exception):
    """The documents of these process instances have to be brought back before the command can be handled."""

    def __init__(self, keys: Iterable[Key]) -> None:
        super().__init__()
        self.keys = frozenset(keys)


class State:
    """All that one partition holds; of the process instances in `evicted` only the indexes are here."""

    def __init__(self, partition_id: int = 1) -> None:
        self.partition_id = partition_id
        self.last_key = first_key(partition_id)
        self.last_offer = 0
        self.instances: dict[Key, ProcessInstance] = {}
        self.evicted: set[Key] = set()
        self.definitions: dict[Key, Definition] = {}
        self.versions: dict[tuple[str, str], list[Key]] = {}
        self.decisions = KnownDecisions()
        # Indexes: process instance of a job or incident; jobs on offer, oldest offer first.
        self.job_owners: dict[Key, Key] = {}
        self.incident_owners: dict[Key, Key] = {}
        self.offers: dict[Place, JobQueue] = {}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, State) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]  # mutable

    def claim(self, key: Key) -> None:
        """Never give this key out again; those of other partitions are theirs to count."""
        if partition_of(key) == self.partition_id:
            self.last_key = max(self.last_key, key)

    def instance(self, key: Key) -> ProcessInstance | None:
        """A live process instance; raises NotLoaded."""
        if key in self.evicted:
            raise NotLoaded((key,))
        return self.instances.get(key)

    def expect_loaded(self, keys: Iterable[Key]) -> None:
        """Raises NotLoaded with all of these that are not here."""
        missing = self.evicted.intersection(keys)
        if missing:
            raise NotLoaded(missing)

    def owner_of_job(self, key: Key) -> ProcessInstance | None:
        """The process instance that has this job; raises NotLoaded."""
        owner = self.job_owners.get(key)
        return self.instance(owner) if owner is not None else None

    def owner_of_incident(self, key: Key) -> ProcessInstance | None:
        """The process instance that has this open incident; raises NotLoaded."""
        owner = self.incident_owners.get(key)
        return self.instance(owner) if owner is not None else None

    def definition_of(self, instance: ProcessInstance) -> Definition:
        return self.definitions[instance.head.process_definition_key]

    def latest(self, tenant_id: str, process_definition_id: str) -> Definition | None:
        keys = self.versions.get((tenant_id, process_definition_id))
        return self.definitions[keys[-1]] if keys else None

    def define(self, definition: Definition) -> None:
        """Take a definition in as the latest version of its process."""
        self.definitions[definition.key] = definition
        self.versions.setdefault((definition.tenant_id, definition.process.id), []).append(definition.key)

    def undefine(self, definition: Definition) -> None:
        """Let go of a definition that is the latest version of its process."""
        del self.definitions[definition.key]
        versions = self.versions[(definition.tenant_id, definition.process.id)]
        versions.remove(definition.key)
        if not versions:
            del self.versions[(definition.tenant_id, definition.process.id)]

    def offer(self, instance: ProcessInstance, job: Job) -> None:
        """Offer a job, behind all that are on offer."""
        self.last_offer = job.offer = self.last_offer + 1
        self._enqueue(instance, job)

    def withdraw(self, instance: ProcessInstance, job: Job) -> None:
        place = (instance.head.tenant_id, job.type)
        queue = self.offers.get(place)
        if queue is None:
            return
        queue.pop(job.key, None)
        if not queue:
            del self.offers[place]

    def adopt(self, *instances: ProcessInstance) -> None:
        """Take documents in and build their indexes; jobs on offer come back to the places that they had."""
        for instance in instances:
            self.take_in(instance)
        self._order({place for instance in instances for place in _places(instance)})

    def take_in(self, instance: ProcessInstance) -> None:
        """Take one of many documents in; `order_offers` has to follow the last."""
        self.instances[instance.head.key] = instance
        for job in instance.jobs.values():
            self.job_owners[job.key] = instance.head.key
            if job.state is JobState.ACTIVATABLE:
                self.last_offer = max(self.last_offer, job.offer)
                self._enqueue(instance, job)
        for key in instance.incidents:
            self.incident_owners[key] = instance.head.key

    def order_offers(self) -> None:
        """Bring all jobs on offer into the order of their offers."""
        self._order(set(self.offers))

    def evict(self, instance_key: Key) -> None:
        """Let a document go that is kept elsewhere; its indexes stay."""
        del self.instances[instance_key]
        self.evicted.add(instance_key)

    def bring_back(self, instance: ProcessInstance) -> None:
        """Take in the document of a process instance that was evicted."""
        self.evicted.remove(instance.head.key)
        self.instances[instance.head.key] = instance

    def release(self, instance_key: Key) -> None:
        """Let a document go, with its indexes."""
        instance = self.instances.pop(instance_key, None)
        if instance is None:
            return
        for job in instance.jobs.values():
            self.job_owners.pop(job.key, None)
            self.withdraw(instance, job)
        for key in instance.incidents:
            self.incident_owners.pop(key, None)

    def _enqueue(self, instance: ProcessInstance, job: Job) -> None:
        place = (instance.head.tenant_id, job.type)
        queue = self.offers.get(place)
        if queue is None:
            queue = self.offers[place] = OrderedDict()
        queue[job.key] = Offer(instance.head.key, job.offer)

    def _order(self, places: set[Place]) -> None:
        for place in self.offers.keys() & places:
            self.offers[place] = OrderedDict(sorted(self.offers[place].items(), key=_offered))


def _places(instance: ProcessInstance) -> Iterable[Place]:
    return ((instance.head.tenant_id, job.type) for job in instance.jobs.values())


def _offered(entry: tuple[Key, Offer]) -> int:
    return entry[1].number
