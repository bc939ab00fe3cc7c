import pytest

from server.platform.postgres.config import DatabaseConfig


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("shared_buffers_mib", 15),
        ("shared_buffers_mib", 1024 * 1024 + 1),
        ("start_seconds", 0.5),
        ("start_seconds", 86_401.0),
        ("stop_seconds", 0.0),
        ("stop_seconds", float("nan")),
        ("pool_connections", 0),
        ("pool_connections", 51),
        ("dsn", "mysql://there"),
        ("account", ""),
    ],
)
def test_a_value_out_of_bounds_is_refused_by_name(name: str, value: object) -> None:
    with pytest.raises(ValueError, match=f"^{name}: expected "):
        DatabaseConfig(**{name: value})  # type: ignore[arg-type]  # each row has its own


def test_a_refused_dsn_is_not_shown() -> None:
    with pytest.raises(ValueError, match="dsn") as refusal:
        DatabaseConfig(dsn="host=there password=secret")

    assert "secret" not in str(refusal.value)
