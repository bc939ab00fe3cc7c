import asyncio

from server.store.postgres.verify import CHECKS
from tests.server.cli.admin.conftest import Operator, execute


def test_a_database_in_order_passes(operator: Operator) -> None:
    verified = operator("verify", "--json").json["items"]

    assert [each["check"] for each in verified] == [check.name for check in CHECKS]
    assert {each["count"] for each in verified} == {0}


def test_a_fault_is_shown_with_examples(operator: Operator) -> None:
    asyncio.run(execute(operator.dsn, "UPDATE runtime.job SET retries = 99"))

    ended = operator("verify", "--examples", "1")

    (line,) = [line for line in ended.output.splitlines() if line.startswith("jobs ")]
    assert ended.exit_code == 1
    assert "of process instance" in line


def test_only_what_is_asked_for_is_checked(operator: Operator) -> None:
    asyncio.run(execute(operator.dsn, "UPDATE runtime.job SET retries = 99"))

    verified = operator("verify", "variables", "partitions", "--json").json["items"]

    assert [each["check"] for each in verified] == ["variables", "partitions"]


def test_a_check_that_there_is_not_is_told_with_those_that_there_are(operator: Operator) -> None:
    ended = operator("verify", "everything")

    assert (ended.exit_code, ended.output) == (2, "")
    assert "expected a check, found 'everything'; there are partitions, " in ended.errors
