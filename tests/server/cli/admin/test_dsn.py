import pytest

from server.cli.admin.dsn import with_database, without_password


@pytest.mark.parametrize(
    ("dsn", "bare", "password"),
    [
        ("postgresql://a:b@h:5432/d?sslmode=require", "postgresql://a@h:5432/d?sslmode=require", "b"),
        ("postgresql://a:b%40%2F@h1:1,h2:2/d", "postgresql://a@h1:1,h2:2/d", "b@/"),
        ("postgresql://a:b@/d?host=%2Ftmp%2Fx", "postgresql://a@/d?host=%2Ftmp%2Fx", "b"),
        ("postgresql://h/d?user=a&password=b%26", "postgresql://h/d?user=a", "b&"),
        ("postgresql://a@h/d", "postgresql://a@h/d", None),
        ("postgresql:///d", "postgresql:///d", None),
    ],
)
def test_a_password_is_taken_out(dsn: str, bare: str, password: str | None) -> None:
    assert without_password(dsn) == (bare, password)


@pytest.mark.parametrize(
    ("dsn", "other"),
    [
        ("postgresql://a:b@h/d?sslmode=require", "postgresql://a:b@h/other?sslmode=require"),
        ("postgresql://a:b@/d?host=%2Ftmp", "postgresql://a:b@/other?host=%2Ftmp"),
        ("postgresql://h?dbname=d&user=a", "postgresql://h/other?user=a"),
        ("postgresql://", "postgresql:///other"),
    ],
)
def test_another_database_of_the_same_server_is_named(dsn: str, other: str) -> None:
    assert with_database(dsn, "other") == other
