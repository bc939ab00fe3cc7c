"""Upgrades the data of an older major version.

The data is copied. The older directory stays unchanged, so that the operator can return to the older version.
"""

import re
from dataclasses import replace
from pathlib import Path

from server.platform.postgres.bundled.cluster import SUPERUSER, initialized, name, password_in
from server.platform.postgres.bundled.errors import PostgresError
from server.platform.postgres.bundled.installation import older_installation
from server.platform.postgres.bundled.layout import Layout
from server.platform.postgres.bundled.process import running
from server.platform.postgres.bundled.programs import Programs
from server.platform.postgres.bundled.settings import options
from server.platform.postgres.config import DatabaseConfig

# Long enough to copy several terabytes.
COPY_SECONDS = 12 * 3600.0

_CHECKSUM_VERSION = re.compile(r"^Data page checksum version:\s*(?P<version>\d+)$", re.MULTILINE)


def take_over(major: int, *, programs: Programs, layout: Layout, config: DatabaseConfig) -> None:
    """Upgrade the data of version `major` to the installation's version."""
    older = replace(programs, installation=older_installation(major, layout.root))
    old, new = layout.data(major), layout.data(programs.installation.major)
    _recover(old, programs=older, layout=layout, config=config)
    draft = initialized(
        new,
        has_checksums=_has_checksums(old, programs=older, seconds=config.start_seconds),
        programs=programs,
        password=layout.password,
        seconds=config.start_seconds,
    )
    programs.run(
        "pg_upgrade",
        *("--old-datadir", old, "--old-bindir", older.installation.binaries),
        *("--new-datadir", draft, "--new-bindir", programs.installation.binaries),
        *("--username", SUPERUSER, "--socketdir", programs.directory, "--copy"),
        environment={"PGPASSWORD": password_in(layout.password)},
        seconds=COPY_SECONDS,
    )
    name(draft, new)


def _recover(old: Path, *, programs: Programs, layout: Layout, config: DatabaseConfig) -> None:
    """Run crash recovery, because pg_upgrade requires a clean shutdown."""
    settings = options(config.shared_buffers_mib, sockets=programs.directory, logs=layout.logs)
    with running(old, settings, programs=programs, layout=layout, config=config):
        pass


def _has_checksums(data: Path, *, programs: Programs, seconds: float) -> bool:
    """Whether the cluster has checksums; both clusters of an upgrade must agree."""
    found = _CHECKSUM_VERSION.search(programs.run("pg_controldata", "-D", data, seconds=seconds))
    if found is None:
        raise PostgresError(f"pg_controldata does not say whether {data} has checksums")
    return int(found["version"]) > 0
