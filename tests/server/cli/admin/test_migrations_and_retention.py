import asyncio
from datetime import date

from server.storage import MIGRATIONS
from tests.server.cli.admin.conftest import Operator, execute, value

FILES = sorted(file.name.removesuffix(".sql") for file in MIGRATIONS.iterdir() if file.name.endswith(".sql"))
ONE_DAY = {"GNOMON_HISTORY__RETENTION_DAYS": "1", "GNOMON_HISTORY__ANSWER_DAYS": "1"}
FOR_EVER = {"GNOMON_HISTORY__RETENTION_DAYS": "0", "GNOMON_HISTORY__ANSWER_DAYS": "0"}


def names(migrations: list[dict[str, object]]) -> list[str]:
    return [f"{each['number']:04}_{each['name']}" for each in migrations]


def test_a_new_database_lacks_all_migrations_until_they_are_applied(empty: Operator) -> None:
    before = empty("migrations", "--json").json["items"]
    after = empty("migrations", "--apply", "--json").json["items"]

    assert names(before) == names(after) == FILES
    assert {each["appliedAt"] for each in before} == {None}
    assert None not in {each["appliedAt"] for each in after}


def test_a_database_without_the_tables_is_told_of_in_one_line(empty: Operator) -> None:
    ended = empty("partitions")

    assert (ended.exit_code, ended.output) == (2, "")
    assert "gnomon admin migrations --apply" in ended.errors
    assert len(ended.errors.splitlines()) == 1


def test_a_database_of_a_later_release_is_left_alone(operator: Operator) -> None:
    later = "INSERT INTO gnomon_migration VALUES (9999, 'later', '', now())"
    asyncio.run(execute(operator.dsn, later))

    shown, applied = operator("verify"), operator("migrations", "--apply")

    assert (shown.exit_code, applied.exit_code) == (2, 1)
    assert "newer than the program" in shown.errors
    assert "newer than the program" in applied.errors


def test_history_is_listed_by_weeks(operator: Operator) -> None:
    first, *_ = operator("retention", "--json", **ONE_DAY).json["weeks"]

    assert (first["begin"], first["last"]) == ("2025-12-29", "2026-01-04")
    assert (first["processInstances"], first["isDue"]) == (12, True)
    assert first["size"] > 0


def test_looking_at_history_drops_nothing(operator: Operator) -> None:
    operator("retention", **ONE_DAY)

    shown = operator("retention", **ONE_DAY).output
    assert "2025-12-29" in shown
    assert asyncio.run(value(operator.dsn, "SELECT count(*) FROM history.process_instance")) == 12


def test_what_is_older_than_it_is_to_be_kept_is_dropped(operator: Operator) -> None:
    before = operator("retention", "--json", **ONE_DAY).json

    after = operator("retention", "--apply", "--json", **ONE_DAY).json

    assert before["answers"]["due"] == before["answers"]["count"] > 0
    assert after["answers"] == {"count": 0, "due": 0}
    assert date.fromisoformat(after["weeks"][0]["begin"]) > date(2026, 1, 4)
    assert asyncio.run(value(operator.dsn, "SELECT count(*) FROM history.audit_entry")) == 0
    assert operator("verify").exit_code == 0


def test_zero_days_keep_everything(operator: Operator) -> None:
    before = operator("retention", "--json", **FOR_EVER).json

    after = operator("retention", "--apply", "--json", **FOR_EVER).json

    assert {week["isDue"] for week in before["weeks"]} == {False}
    assert after["weeks"][0] == before["weeks"][0]
    assert after["answers"] == before["answers"]
