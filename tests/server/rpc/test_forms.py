"""Forms over every channel, in every mode."""

from typing import Any

import pytest

from gnomon.engine.v1 import deployment_service_pb2, form_pb2
from server.bpmn.builder import process
from server.platform.errors import NotFound
from tests.server.engine.form_files import form_json
from tests.server.rpc.caller import Caller

ADDRESS = form_json(tag="stable", title="Address")


async def deploy(caller: Caller, content: bytes = ADDRESS) -> Any:
    answer = await caller("CreateDeployment", resources=[{"name": "address.form", "content": content}])
    return answer.deployments[0].form


async def user_task(caller: Caller, **form: str) -> int:
    """Key of a user task with this form definition."""
    await caller.deploy(process("order").start().user_task("review", form=form).end())
    key = await caller.start("order")
    (found,) = (await caller("SearchUserTasks", filter={"process_instance_key": key})).items
    return int(found.user_task_key)


async def test_a_deployment_answers_with_the_form(caller: Caller) -> None:
    first = await deploy(caller)

    again = await deploy(caller)

    expected = deployment_service_pb2.DeployedForm(
        form_id="address",
        version=1,
        resource_name="address.form",
        tenant_id="default",
        form_key=first.form_key,
    )
    assert (first, again) == (expected, expected)


async def test_the_form_of_a_user_task_is_the_version_that_it_was_bound_to(caller: Caller) -> None:
    first = await deploy(caller)
    key = await user_task(caller, formId="address")
    await deploy(caller, form_json(title="other"))

    answer = await caller("GetUserTaskForm", user_task_key=key)

    assert answer.form == form_pb2.Form(
        tenant_id="default", form_id="address", schema=ADDRESS.decode(), version=1, form_key=first.form_key
    )
    assert (await caller("GetUserTask", user_task_key=key)).user_task.form_key == first.form_key


async def test_a_user_task_outlives_the_deletion_of_its_form(caller: Caller) -> None:
    found = await deploy(caller)
    key = await user_task(caller, formId="address")

    await caller("DeleteResource", resource_key=found.form_key)
    await caller("CompleteUserTask", user_task_key=key)

    assert (await caller("GetUserTaskForm", user_task_key=key)).form.form_key == found.form_key


@pytest.mark.parametrize("form", [{}, {"externalReference": "forms/review"}])
async def test_a_user_task_without_a_deployed_form_has_none(caller: Caller, form: dict[str, str]) -> None:
    key = await user_task(caller, **form)

    assert not (await caller("GetUserTaskForm", user_task_key=key)).HasField("form")


async def test_a_start_form_is_the_newest_version_that_is_not_deleted(caller: Caller) -> None:
    first = await deploy(caller)
    second = await deploy(caller, form_json(title="other"))
    key = await caller.deploy(process("order").start(form="address").end())

    newest = await caller("GetStartProcessForm", process_definition_key=key)
    await caller("DeleteResource", resource_key=second.form_key)
    before = await caller("GetStartProcessForm", process_definition_key=key)
    await caller("DeleteResource", resource_key=first.form_key)
    none = await caller("GetStartProcessForm", process_definition_key=key)

    assert [newest.form.version, before.form.version] == [2, 1]
    assert not none.HasField("form")


async def test_process_definitions_say_whether_they_have_a_start_form(caller: Caller) -> None:
    plain = await caller.deploy(process("plain").start().end())
    asked = await caller.deploy(process("asked").start(form="address").end())

    with_form = await caller("SearchProcessDefinitions", filter={"has_start_form": True})
    found = await caller("GetProcessDefinition", process_definition_key=plain)

    assert [each.process_definition_key for each in with_form.items] == [asked]
    assert not found.process_definition.has_start_form
    assert not (await caller("GetStartProcessForm", process_definition_key=plain)).HasField("form")


async def test_forms_of_another_tenant_do_not_exist(caller: Caller) -> None:
    found = await deploy(caller)
    task = await user_task(caller, formId="address")
    definition = await caller.deploy(process("asked").start(form="address").end())
    stranger = caller.signed_in_as("stranger")

    for rpc, fields in (
        ("GetUserTaskForm", {"user_task_key": task}),
        ("GetStartProcessForm", {"process_definition_key": definition}),
        ("DeleteResource", {"resource_key": found.form_key}),
    ):
        with pytest.raises(NotFound):
            await stranger(rpc, **fields)
