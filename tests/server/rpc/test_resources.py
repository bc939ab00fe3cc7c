"""Generic resources over every channel, in every mode."""

from typing import Any

import pytest

from gnomon.engine.v1 import deployment_service_pb2, generic_resource_pb2
from server.platform.errors import NotFound
from tests.server.engine.resource_files import rpa_json
from tests.server.rpc.caller import Caller

ROBOT = rpa_json(tag="stable")


async def deploy(caller: Caller, content: bytes = ROBOT, name: str = "robot.rpa") -> Any:
    answer = await caller("CreateDeployment", resources=[{"name": name, "content": content}])
    return answer.deployments[0].resource


async def test_a_deployment_answers_with_the_resource(caller: Caller) -> None:
    first = await deploy(caller)

    again = await deploy(caller)

    expected = deployment_service_pb2.DeployedResource(
        resource_id="robot",
        version=1,
        resource_name="robot.rpa",
        tenant_id="default",
        resource_key=first.resource_key,
    )
    assert (first, again) == (expected, expected)


async def test_a_resource_is_read_with_its_content_also_when_it_is_deleted(caller: Caller) -> None:
    key = (await deploy(caller)).resource_key
    await caller("DeleteResource", resource_key=key)

    found = (await caller("GetResource", resource_key=key)).resource
    content = (await caller("GetResourceContent", resource_key=key)).content

    assert found == generic_resource_pb2.GenericResource(
        resource_name="robot.rpa",
        version=1,
        version_tag="stable",
        resource_id="robot",
        tenant_id="default",
        resource_key=key,
    )
    assert content == ROBOT.decode()


async def test_any_other_file_has_its_name_as_its_id(caller: Caller) -> None:
    found = await deploy(caller, "print('ünï')\n".encode(), "work.py")

    content = (await caller("GetResourceContent", resource_key=found.resource_key)).content

    assert (found.resource_id, content) == ("work.py", "print('ünï')\n")


async def test_resources_of_another_tenant_and_other_definitions_are_not_found(caller: Caller) -> None:
    key = (await deploy(caller)).resource_key
    form = await caller("CreateDeployment", resources=[{"name": "a.form", "content": b'{"id": "f"}'}])
    stranger = caller.signed_in_as("stranger")

    for rpc in ("GetResource", "GetResourceContent", "DeleteResource"):
        with pytest.raises(NotFound):
            await stranger(rpc, resource_key=key)
    with pytest.raises(NotFound):
        await caller("GetResource", resource_key=form.deployments[0].form.form_key)
