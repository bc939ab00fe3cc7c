"""The sources of an earlier commit, beside those of today."""

import os
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

from tests.campaigns.programs import ROOT
from tests.postgres import open_directory

# The last commit whose programs have no format numbers.
COMMIT = "15d109fb7efed047c0d2de93797e19987fa96729"
# Names another one.
VARIABLE = "EARLIER"
_VALIDATION = Path("gen", "gnomon", "buf")
_DIRECTORIES = ("server", "identity", "edge", "gen")


@contextmanager
def earlier_sources() -> Iterator[Path]:
    """A directory that is gone when the block ends; it needs the history of the repository."""
    commit = os.environ.get(VARIABLE) or COMMIT
    archive = subprocess.run(
        ["git", "archive", "--format=tar", commit, *_DIRECTORIES],  # noqa: S607  # the git of the path
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    with open_directory() as directory, tarfile.open(fileobj=BytesIO(archive.stdout)) as files:
        files.extractall(directory, filter="data")
        # Made when the package is built, so it is not in the history.
        shutil.copytree(ROOT / _VALIDATION, directory / _VALIDATION, dirs_exist_ok=True)
        yield directory
