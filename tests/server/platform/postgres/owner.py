"""A process that owns a server until its standard input ends; prints the DSN."""

import sys
from pathlib import Path

from server.platform.postgres.bundled import PostgresError, bundled_postgres
from server.platform.postgres.config import DatabaseConfig


def main(directory: str) -> None:
    try:
        with bundled_postgres(DatabaseConfig(data_directory=Path(directory))) as dsn:
            sys.stdout.write(f"{dsn}\n")
            sys.stdout.flush()
            sys.stdin.read()
    except PostgresError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main(*sys.argv[1:])
