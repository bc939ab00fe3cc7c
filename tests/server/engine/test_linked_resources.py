"""Generic resources are deployed, and the job of a task is bound to them when it is created."""

import json
from collections.abc import Mapping
from typing import cast

import pytest

from server.bpmn.builder import ProcessBuilder, process
from server.engine import State
from server.engine import process as processed
from server.engine.answers import DeployedResource, Deployment
from server.engine.deployment_commands import (
    AdoptDefinition,
    AdoptDeletion,
    DeleteResource,
    DeployResources,
    GenericFile,
)
from server.engine.formats import ClusterFormat
from server.engine.generic_resource_events import GenericResourceAdopted, GenericResourceDeployed
from server.engine.keys import Key
from server.engine.process_instance_commands import ResolveIncident
from server.engine.rejection import RejectionType
from server.store.entities import GenericResource
from tests.durable import EPOCH
from tests.server.engine.resource_files import rpa
from tests.server.engine.scenario import Scenario, resource

ONE, TWO = rpa(script="one"), rpa(script="two")
ROBOT = {"resourceId": "robot", "resourceType": "RPA"}


def linking(*linked: Mapping[str, str], tag: str = "serviceTask") -> ProcessBuilder:
    return process("order").start().service_task("work", type="work", tag=tag, linked=linked).end()


def deployed(
    engine: Scenario, *files: GenericFile, processes: tuple[ProcessBuilder, ...] = ()
) -> tuple[DeployedResource, ...]:
    resources = tuple(resource(each, "order.bpmn") for each in processes)
    command = DeployResources(engine.tenant_id, resources, generic=files)
    return cast("Deployment", engine.execute(command)).resources


def latest(engine: Scenario) -> dict[str, int]:
    """Versions of the generic resources that rows call the latest."""
    return {row.resource_id: row.version for row in engine.rows.all(GenericResource) if row.is_latest_version}


def linked_keys(engine: Scenario) -> list[str]:
    (job,) = engine.activate("work")
    return [each["resourceKey"] for each in json.loads(job.headers["linkedResources"])]


# Deployment


def test_a_resource_is_deployed_with_its_content_which_partitions_do_not_keep(engine: Scenario) -> None:
    (found,) = deployed(engine, rpa(tag="stable"))

    row = engine.rows.get(GenericResource, found.key)
    assert (found.resource_id, found.version, found.resource_name) == ("robot", 1, "robot.rpa")
    assert (row.version_tag, row.content) == ("stable", rpa(tag="stable").content)
    assert engine.state.generic_resources.files[found.key].content == ""


@pytest.mark.parametrize(
    ("second", "version"),
    [
        pytest.param(ONE, 1, id="same content"),
        pytest.param(TWO, 2, id="other content"),
        pytest.param(rpa(name="other.rpa"), 2, id="other name"),
    ],
)
def test_what_has_changed_gets_a_new_version(engine: Scenario, second: GenericFile, version: int) -> None:
    deployed(engine, ONE)

    (found,) = deployed(engine, second)

    assert (found.version, latest(engine)) == (version, {"robot": version})


def test_versions_are_counted_for_each_id_and_tenant_and_not_used_again(engine: Scenario) -> None:
    (first,) = deployed(engine, ONE)
    engine.execute(DeleteResource("default", first.key))
    own = deployed(engine, ONE, rpa("other"))
    engine.tenant_id = "other"

    foreign = deployed(engine, ONE)

    assert [each.version for each in (*own, *foreign)] == [2, 1, 1]


def test_the_version_before_takes_the_place_of_a_deleted_one(engine: Scenario) -> None:
    deployed(engine, ONE)
    (second,) = deployed(engine, TWO)

    engine.execute(DeleteResource("default", second.key))

    known = engine.state.generic_resources.latest("default", "robot")
    assert known is not None
    assert (known.version, latest(engine)) == (1, {"robot": 1})
    assert engine.rows.get(GenericResource, second.key).is_deleted


def test_a_deleted_resource_and_that_of_another_tenant_are_not_found(engine: Scenario) -> None:
    (found,) = deployed(engine, ONE)

    foreign = engine.refusal(DeleteResource("other", found.key))
    engine.execute(DeleteResource("default", found.key))
    gone = engine.refusal(DeleteResource("default", found.key))

    assert [foreign.type, gone.type] == [RejectionType.NOT_FOUND] * 2


def test_a_resource_is_adopted_and_deleted_once(engine: Scenario) -> None:
    deployed(engine, ONE)
    (event,) = (each for each in engine.events if isinstance(each, GenericResourceDeployed))
    other = State(2)

    adopted = [processed(other, AdoptDefinition(event.known), EPOCH).events for _ in range(2)]
    deleted = [processed(other, AdoptDeletion("default", event.key), EPOCH).events for _ in range(2)]

    assert adopted == [[GenericResourceAdopted(event.known)], []]
    assert [len(each) for each in deleted] == [1, 0]
    assert other.generic_resources.latest("default", "robot") is None


def test_a_resource_waits_for_nodes_that_do_not_know_resources(engine: Scenario) -> None:
    engine.state.format = ClusterFormat(1, laggard="old")

    refused = engine.refusal(DeployResources("default", (), generic=(ONE,)))
    linked = engine.refusal(DeployResources("default", (resource(linking(ROBOT)),)))

    assert "resource robot needs all nodes at format 2" in refused.reason
    assert "linked_resources of SERVICE_TASK work needs all nodes at format 2" in linked.reason


@pytest.mark.parametrize("file", [rpa(script="two", tag="stable"), rpa("other")])
def test_a_resource_that_is_let_go_leaves_what_was_before(file: GenericFile) -> None:
    before, engine = Scenario(), Scenario()
    for each in (before, engine):
        deployed(each, rpa(tag="stable"))
    known = engine.state.generic_resources
    deployed(engine, file)
    newest = known.files[Key(max(known.files))]

    known.undefine(newest, before.state.generic_resources.number_of(newest))

    assert before.state.generic_resources == known


# Jobs


@pytest.mark.parametrize("tag", ["serviceTask", "sendTask"])
def test_a_job_tells_its_worker_the_keys_of_the_linked_resources(engine: Scenario, tag: str) -> None:
    robot, other = deployed(engine, ONE, rpa("other", name="other.rpa"))
    engine.deploy(
        linking({**ROBOT, "linkName": "main"}, {"resourceId": "other", "resourceType": "RPA"}, tag=tag)
    ).start()

    (job,) = engine.activate("work")

    assert json.loads(job.headers["linkedResources"]) == [
        {"resourceKey": str(robot.key), "resourceType": "RPA", "linkName": "main"},
        {"resourceKey": str(other.key), "resourceType": "RPA", "linkName": None},
    ]


def test_a_job_without_linked_resources_has_no_header_of_them(engine: Scenario) -> None:
    engine.deploy(linking()).start()

    (job,) = engine.activate("work")

    assert job.headers == {}


def test_the_instances_of_a_multi_instance_activity_have_it_each(engine: Scenario) -> None:
    (robot,) = deployed(engine, ONE)
    engine.deploy(
        process("order")
        .start()
        .service_task("work", type="work", linked=[ROBOT])
        .multi_instance("=[1, 2]")
        .end()
    ).start()

    jobs = engine.activate("work")

    assert [str(robot.key) in job.headers["linkedResources"] for job in jobs] == [True, True]


def test_latest_is_the_newest_version_when_the_job_is_created(engine: Scenario) -> None:
    deployed(engine, ONE)
    engine.deploy(linking(ROBOT))
    (second,) = deployed(engine, TWO)

    engine.start()
    deployed(engine, rpa(script="three"))

    assert linked_keys(engine) == [str(second.key)]


def test_deployment_is_the_version_that_came_with_the_process(engine: Scenario) -> None:
    bound = linking({**ROBOT, "bindingType": "deployment"})
    (first,) = deployed(engine, ONE, processes=(bound,))
    deployed(engine, TWO)

    engine.start("order")

    assert linked_keys(engine) == [str(first.key)]


def test_an_unchanged_resource_gets_a_version_beside_a_process_that_is_bound_to_its_deployment(
    engine: Scenario,
) -> None:
    deployed(engine, ONE)

    (second,) = deployed(engine, ONE, processes=(linking({**ROBOT, "bindingType": "deployment"}),))
    engine.start("order")

    assert (second.version, linked_keys(engine)) == (2, [str(second.key)])


def test_version_tag_is_the_newest_version_with_the_tag(engine: Scenario) -> None:
    deployed(engine, rpa(tag="stable", script="one"))
    (second,) = deployed(engine, rpa(tag="stable", script="two"))
    deployed(engine, rpa(tag="next", script="three"))

    engine.deploy(linking({**ROBOT, "bindingType": "versionTag", "versionTag": "stable"})).start()

    assert linked_keys(engine) == [str(second.key)]


@pytest.mark.parametrize(
    ("binding", "file", "reason"),
    [
        pytest.param({}, ONE, "with id 'robot' and binding type 'latest', but no resource", id="latest"),
        pytest.param(
            {"bindingType": "versionTag", "versionTag": "stable"},
            rpa(tag="stable"),
            "with id 'robot' and version tag 'stable', but no such resource found",
            id="version tag",
        ),
    ],
)
def test_a_missing_resource_is_an_incident_that_goes_on_when_it_is_deployed(
    engine: Scenario, binding: Mapping[str, str], file: GenericFile, reason: str
) -> None:
    engine.deploy(linking({**ROBOT, **binding})).start()
    incident = engine.incident

    (found,) = deployed(engine, file)
    engine.execute(ResolveIncident("default", incident.key))

    assert (incident.error_type, incident.element_id) == ("RESOURCE_NOT_FOUND", "work")
    assert reason in incident.message
    assert linked_keys(engine) == [str(found.key)]
    assert not engine.instance.incidents


def test_a_resource_of_another_deployment_is_missing_for_the_binding_deployment(engine: Scenario) -> None:
    deployed(engine, ONE)

    engine.deploy(linking({**ROBOT, "bindingType": "deployment"})).start()

    deployment_key = engine.state.definition_of(engine.instance).deployment_key
    assert engine.incident.error_type == "RESOURCE_NOT_FOUND"
    assert f"in the deployment with key {deployment_key}" in engine.incident.message


def test_a_job_keeps_its_resource_when_that_is_deleted_or_another_version_comes(engine: Scenario) -> None:
    (first,) = deployed(engine, ONE)
    engine.deploy(linking(ROBOT)).start()

    deployed(engine, TWO)
    engine.execute(DeleteResource("default", first.key))

    assert linked_keys(engine) == [str(first.key)]


def test_the_resource_of_another_tenant_is_missing(engine: Scenario) -> None:
    engine.tenant_id = "other"
    deployed(engine, ONE)
    engine.tenant_id = "default"

    engine.deploy(linking(ROBOT)).start()

    assert engine.incident.error_type == "RESOURCE_NOT_FOUND"
