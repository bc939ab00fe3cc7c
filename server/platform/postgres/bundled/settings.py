"""The server's settings, passed on the command line, so that no file in the data directory needs maintenance.

No setting here may weaken the durability of commits: fsync, full_page_writes and synchronous_commit keep
their defaults.
"""

from pathlib import Path

MAX_CONNECTIONS = 200


def options(shared_buffers_mib: int, *, sockets: Path, logs: Path) -> list[str]:
    """Return the arguments for `postgres`."""
    settings = {
        "listen_addresses": "",
        "unix_socket_directories": _quoted(sockets),
        "unix_socket_permissions": "0700",
        "max_connections": MAX_CONNECTIONS,
        "shared_buffers": f"{shared_buffers_mib}MB",
        # Enough preallocated WAL files keep commit times even.
        "min_wal_size": "512MB",
        "max_wal_size": "2GB",
        "wal_buffers": "16MB",
        "wal_compression": "on",
        "checkpoint_timeout": "15min",
        "jit": "off",
        "random_page_cost": "1.1",
        # A frozen client must not hold the lock on a partition's lease.
        "idle_in_transaction_session_timeout": "10s",
        "client_connection_check_interval": "5s",
        "timezone": "UTC",
        **_log(logs),
    }
    return [argument for name, value in settings.items() for argument in ("-c", f"{name}={value}")]


def _log(directory: Path) -> dict[str, str]:
    """Write one log file per weekday, overwritten after a week."""
    return {
        "logging_collector": "on",
        "log_directory": str(directory),
        "log_filename": "postgres-%a.log",
        "log_rotation_age": "1d",
        "log_rotation_size": "0",
        "log_truncate_on_rotation": "on",
        "log_timezone": "UTC",
        "log_checkpoints": "off",
        # A DETAIL line would contain values of rows.
        "log_error_verbosity": "terse",
    }


def _quoted(path: Path) -> str:
    """Quote a path as an element of a directory list."""
    return '"' + str(path).replace('"', '""') + '"'
