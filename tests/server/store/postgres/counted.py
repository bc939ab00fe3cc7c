"""The statistics of the API, with what they are asked for over `population`."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from server.platform.query import (
    Clauses,
    Condition,
    Different,
    Interval,
    Latest,
    Operator,
    Related,
    Statistic,
    equals,
)
from server.platform.query.clauses import relations_in
from server.platform.query.sql import Statement, groups_of, groups_within
from server.store.entities import IncidentState, ProcessInstance, ProcessInstanceState
from server.store.job_statistics import (
    CREATION,
    END,
    ERRORS_OF_JOBS,
    HAS_COMPLETED,
    HAS_FAILED,
    HAS_WORKER,
    LAST_UPDATE,
    TYPE,
    WORKER,
    TimeSpan,
    counts_of,
)
from server.store.postgres.relations import counted_in, table
from server.store.searchables import (
    ELEMENT_INSTANCES,
    INCIDENTS,
    JOBS,
    MESSAGE_SUBSCRIPTIONS,
    PROCESS_INSTANCES,
)
from server.store.statistics import (
    ELEMENTS,
    ELEMENTS_WITH_INCIDENTS,
    ERRORS,
    IS_NOT_CALLED,
    PROCESSES,
    STARTED_INSTANCES,
    SUBSCRIPTIONS,
    TAKEN_SEQUENCE_FLOWS,
    VERSIONS,
    VERSIONS_WITH_ERRORS,
)
from tests.server.store.postgres import population
from tests.server.store.postgres.documented import NUMBER
from tests.server.store.postgres.population import definition_key, key


@dataclass(frozen=True, slots=True)
class Counted:
    """With `is_in_index` the ended rows are counted in an index alone."""

    name: str
    statistic: Statistic[object]
    clauses: Clauses
    is_in_index: bool = False

    def statement(self, tenant_id: str, names: Sequence[str]) -> Statement:
        """As the store asks, given the names of the tables of its entity."""
        if not any(relations_in(self.clauses)):
            return groups_of(counted_in(self.statistic), self.statistic, self.clauses, tenant_id=tenant_id)
        tables = [table(self.statistic.entity, name) for name in names]
        return groups_within(tables, self.statistic, self.clauses, tenant_id=tenant_id)


_OF_DEFINITION = equals(ELEMENT_INSTANCES, "process_definition_key", definition_key(7))
_OF_INSTANCE = equals(ELEMENT_INSTANCES, "process_instance_key", key(NUMBER))
_IN_RUNNING = Related(
    ELEMENT_INSTANCES.fields["process_instance_key"],
    ProcessInstance,
    "process_instance_key",
    (
        equals(PROCESS_INSTANCES, "process_definition_key", definition_key(7)),
        equals(PROCESS_INSTANCES, "state", ProcessInstanceState.ACTIVE),
    ),
)
_IS_ACTIVE = equals(PROCESS_INSTANCES, "state", ProcessInstanceState.ACTIVE)
_OF_VERSION = equals(PROCESS_INSTANCES, "process_definition_key", definition_key(7))
_IS_OPEN = equals(INCIDENTS, "state", IncidentState.ACTIVE)
_STARTS = PROCESS_INSTANCES.fields["start_date"]
_LAST_DAY = population.END - timedelta(days=1)
_DAY = TimeSpan(_LAST_DAY, population.END)
_DAY_OF_TYPE = TimeSpan(_LAST_DAY, population.END, (equals(JOBS, "type", "send-mail"),))

COUNTED = (
    Counted("elements of a definition", ELEMENTS, (_OF_DEFINITION,), is_in_index=True),
    Counted("elements of running instances of a definition", ELEMENTS, (_OF_DEFINITION, _IN_RUNNING)),
    Counted("elements of an instance", ELEMENTS, (_OF_INSTANCE,)),
    Counted("sequence flows of an instance", TAKEN_SEQUENCE_FLOWS, (_OF_INSTANCE,)),
    Counted(
        "elements with incidents of an instance",
        ELEMENTS_WITH_INCIDENTS,
        (equals(INCIDENTS, "process_instance_key", key(NUMBER)),),
    ),
    Counted("instances by process", PROCESSES, (_IS_ACTIVE,)),
    Counted("instances by version", VERSIONS, (_OF_VERSION, _IS_ACTIVE)),
    Counted("subscriptions", SUBSCRIPTIONS, (equals(MESSAGE_SUBSCRIPTIONS, "is_open", value=True),)),
    Counted("errors", ERRORS, (_IS_OPEN,)),
    Counted(
        "versions with an error",
        VERSIONS_WITH_ERRORS,
        (_IS_OPEN, equals(INCIDENTS, "error_message", "connection to host-1 refused")),
    ),
    Counted("jobs created in a day", counts_of((), Latest(CREATION)), _DAY.of(CREATION)),
    Counted("jobs completed in a day", counts_of((), Latest(END)), (HAS_COMPLETED, *_DAY.of(END))),
    Counted(
        "jobs failed in a day by type",
        counts_of((TYPE,), Latest(LAST_UPDATE)),
        (HAS_FAILED, *_DAY.of(LAST_UPDATE)),
    ),
    Counted(
        "workers in a day by type",
        counts_of((TYPE,), Different(WORKER, (HAS_WORKER,))),
        _DAY.of(LAST_UPDATE),
    ),
    Counted(
        "jobs of a type created in a day by the hour",
        counts_of((Interval(CREATION, 3600),), Latest(CREATION)),
        _DAY_OF_TYPE.of(CREATION),
    ),
    Counted(
        "jobs of a type completed in a day by worker",
        counts_of((WORKER,), Latest(END)),
        (HAS_COMPLETED, *_DAY_OF_TYPE.of(END)),
    ),
    Counted("errors of jobs in a day", ERRORS_OF_JOBS, (HAS_FAILED, *_DAY_OF_TYPE.of(LAST_UPDATE))),
    Counted(
        "instances started in a day",
        STARTED_INSTANCES,
        (
            IS_NOT_CALLED,
            Condition(_STARTS, Operator.GTE, _LAST_DAY),
            Condition(_STARTS, Operator.LT, population.END),
        ),
    ),
)
