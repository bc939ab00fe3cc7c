"""A command costs what it changes, however large its process instance is."""

from typing import NoReturn, cast

from server.bpmn.builder import ProcessBuilder
from server.bpmn.builder import process as builder_of
from server.engine import process
from server.engine.job_commands import CompleteJob
from server.engine.keys import Key
from server.engine.process_instance import ElementInstance, Variable
from server.engine.process_instance_commands import CancelProcessInstance
from tests.server.engine.scenario import Scenario


class Watched(dict[Key, ElementInstance]):
    """Gives single element instances, and never all of them."""

    def __iter__(self) -> NoReturn:
        raise AssertionError("expected to look at single element instances")

    values = items = keys = __iter__  # type: ignore[assignment]


def parallel() -> ProcessBuilder:
    gateway = builder_of("order").parallel_gateway("split")
    for name in "abc":
        gateway.branch("split").service_task(name, type=name).end()
    return gateway


def started() -> Scenario:
    return Scenario().deploy(parallel()).start()


def test_completing_a_job_packs_nothing_of_the_rest() -> None:
    engine = started()
    instance = engine.state.instances[engine.instance_key]
    # No document can hold it.
    instance.variables[engine.instance_key] = {"unpackable": cast("Variable", object())}

    process(engine.state, CompleteJob("default", engine.job("a").key), engine.now)

    assert [job.type for job in instance.jobs.values()] == ["b", "c"]


def test_terminating_goes_through_the_element_instances_once() -> None:
    engine = started()
    instance = engine.state.instances[engine.instance_key]
    instance.elements = Watched(instance.elements)

    process(engine.state, CancelProcessInstance("default", engine.instance_key), engine.now)

    assert engine.state.instances == {}
