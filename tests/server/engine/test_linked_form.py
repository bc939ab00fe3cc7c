"""The form of a user task is bound when the user task is activated."""

from collections.abc import Mapping
from typing import cast

import pytest

from server.bpmn.builder import ProcessBuilder, process
from server.engine.answers import DeployedForm, Deployment
from server.engine.deployment_commands import DeleteResource, DeployResources, FormFile
from server.engine.process_instance_commands import ResolveIncident
from server.store import entities
from tests.server.engine.form_files import form
from tests.server.engine.scenario import Scenario, resource

ONE, TWO = form(title="one"), form(title="two")


def review(form_definition: Mapping[str, str], *, is_native: bool = True) -> ProcessBuilder:
    task = process("order").start().user_task("review", form=form_definition, is_native=is_native)
    return task.end()


def deployed(engine: Scenario, *files: FormFile, processes: tuple[ProcessBuilder, ...] = ()) -> DeployedForm:
    """The first of the forms."""
    resources = tuple(resource(each, "order.bpmn") for each in processes)
    command = DeployResources(engine.tenant_id, resources, (), files)
    return cast("Deployment", engine.execute(command)).forms[0]


def shown(engine: Scenario) -> int | None:
    """The form of the one user task, for searches and in the document."""
    (row,) = engine.rows.all(entities.UserTask)
    assert row.form_key == engine.user_task("review").form_key
    return row.form_key


def resolve(engine: Scenario) -> Scenario:
    (incident,) = engine.instance.incidents
    engine.execute(ResolveIncident("default", incident))
    return engine


def test_latest_is_the_newest_version_at_activation(engine: Scenario) -> None:
    deployed(engine, ONE)
    engine.deploy(review({"formId": "address"}))
    second = deployed(engine, TWO)

    engine.start()
    deployed(engine, form(title="three"))

    assert shown(engine) == second.key


def test_an_expression_names_the_form(engine: Scenario) -> None:
    found = deployed(engine, form("payment"), ONE)
    engine.deploy(review({"formId": "=kind"}))

    engine.start(kind="payment")

    assert shown(engine) == found.key


def test_deployment_is_the_version_that_came_with_the_process(engine: Scenario) -> None:
    bound = review({"formId": "address", "bindingType": "deployment"})
    first = deployed(engine, ONE, processes=(bound,))
    deployed(engine, TWO)

    engine.start("order")

    assert shown(engine) == first.key


def test_a_process_that_is_bound_to_its_deployment_changes_with_its_form(engine: Scenario) -> None:
    bound = review({"formId": "address", "bindingType": "deployment"})
    deployed(engine, ONE, processes=(bound,))

    second = deployed(engine, TWO, processes=(bound,))
    engine.start("order")

    assert (engine.instance.head.version, shown(engine)) == (2, second.key)


def test_version_tag_is_the_newest_version_with_the_tag(engine: Scenario) -> None:
    deployed(engine, form(tag="stable", title="one"))
    second = deployed(engine, form(tag="stable", title="two"))
    deployed(engine, form(tag="next", title="three"))
    engine.deploy(review({"formId": "address", "bindingType": "versionTag", "versionTag": "stable"}))

    engine.start()

    assert shown(engine) == second.key


@pytest.mark.parametrize(
    ("definition", "file", "reason"),
    [
        pytest.param({"formId": "address"}, ONE, "but no form with this id is found", id="latest"),
        pytest.param(
            {"formId": "address", "bindingType": "versionTag", "versionTag": "stable"},
            form(tag="stable"),
            "and version tag 'stable', but no such form found",
            id="version tag",
        ),
    ],
)
def test_a_missing_form_is_an_incident_that_goes_on_when_it_is_deployed(
    engine: Scenario, definition: Mapping[str, str], file: FormFile, reason: str
) -> None:
    engine.deploy(review(definition)).start()

    assert engine.incident.error_type == "FORM_NOT_FOUND"
    (row,) = engine.rows.all(entities.Incident)
    assert reason in row.error_message
    assert not engine.instance.user_tasks
    found = deployed(engine, file)
    assert shown(resolve(engine)) == found.key
    assert engine.complete_user_task("review").is_completed


def test_a_form_that_came_later_than_the_process_is_not_that_of_its_deployment(engine: Scenario) -> None:
    engine.deploy(review({"formId": "address", "bindingType": "deployment"})).start()
    deployed(engine, ONE)

    resolve(engine)

    assert engine.incident.error_type == "FORM_NOT_FOUND"


def test_a_form_that_was_deployed_before_is_not_bound_to_the_deployment(engine: Scenario) -> None:
    deployed(engine, ONE)
    engine.deploy(review({"formId": "address", "bindingType": "deployment"})).start()

    deployment_key = engine.state.definition_of(engine.instance).deployment_key
    assert engine.incident.error_type == "FORM_NOT_FOUND"
    assert f"found in the deployment with key {deployment_key}" in engine.incident.message


def test_an_unchanged_form_gets_a_version_beside_a_process_that_is_bound_to_its_deployment(
    engine: Scenario,
) -> None:
    deployed(engine, ONE)

    second = deployed(engine, ONE, processes=(review({"formId": "address", "bindingType": "deployment"}),))
    engine.start("order")

    assert (second.version, shown(engine)) == (2, second.key)


def test_the_form_of_another_tenant_is_not_found(engine: Scenario) -> None:
    engine.tenant_id = "other"
    deployed(engine, ONE)
    engine.tenant_id = "default"

    engine.deploy(review({"formId": "address"})).start()

    assert engine.incident.error_type == "FORM_NOT_FOUND"


def test_a_user_task_keeps_its_form_when_that_is_deleted(engine: Scenario) -> None:
    first = deployed(engine, ONE)
    second = deployed(engine, TWO)
    engine.deploy(review({"formId": "address"})).start()

    engine.execute(DeleteResource("default", second.key))

    assert shown(engine) == second.key
    engine.start()
    assert engine.user_task("review").form_key == first.key


def test_the_worker_of_a_user_task_gets_the_key_of_its_form(engine: Scenario) -> None:
    found = deployed(engine, ONE)
    engine.deploy(review({"formId": "address"}, is_native=False)).start()

    (job,) = engine.activate("io.camunda.zeebe:userTask")

    assert job.headers == {"io.camunda.zeebe:formKey": str(found.key)}


def test_the_worker_of_a_user_task_gets_the_reference_of_an_embedded_form(engine: Scenario) -> None:
    engine.deploy(review({"formKey": "camunda-forms:bpmn:userTaskForm_1"}, is_native=False)).start()

    (job,) = engine.activate("io.camunda.zeebe:userTask")

    assert job.headers == {"io.camunda.zeebe:formKey": "camunda-forms:bpmn:userTaskForm_1"}


def test_a_user_task_that_becomes_native_keeps_its_form(engine: Scenario) -> None:
    found = deployed(engine, ONE)
    engine.deploy(process("next").start().user_task("review").end())
    engine.deploy(review({"formId": "address"}, is_native=False)).start()

    engine.migrate("next", {"review": "review"})

    assert shown(engine) == found.key
    (row,) = engine.rows.all(entities.UserTask)
    assert row.external_form_reference is None


def test_a_listener_of_a_user_task_gets_the_key_of_its_form(engine: Scenario) -> None:
    found = deployed(engine, ONE)
    builder = process("order").start().user_task("review", form={"formId": "address"})
    engine.deploy(builder.task_listener("creating", type="listen").end()).start()

    (job,) = engine.activate("listen")

    assert job.user_task is not None
    assert job.user_task.form_key == found.key
