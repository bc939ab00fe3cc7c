import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.people.person import Person
from tests.people.provider import Provider
from tests.people.provider import provider as running

HERE = Path(__file__).parent / "node"
KEPT = Path(__file__).parents[2] / ".venv" / "relying-parties"
INSTALL_SECONDS = 300


@pytest.fixture(scope="session")
def provider() -> Iterator[Provider]:
    with running() as started:
        yield started


@pytest.fixture
def person(provider: Provider) -> Iterator[Person]:
    with provider.person() as somebody:
        yield somebody


@pytest.fixture(scope="session")
def node() -> Path:
    """The directory of the scripts, with the libraries of the lock file."""
    lock = HERE / "package-lock.json"
    scripts = "".join(sorted(path.read_text() for path in HERE.glob("*.mjs")))
    digest = hashlib.sha256(lock.read_bytes() + scripts.encode()).hexdigest()[:16]
    folder = KEPT / digest
    if not folder.exists():
        draft = KEPT / f"{digest}-{os.getpid()}"
        shutil.copytree(HERE, draft)
        subprocess.run(
            ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"],  # noqa: S607  # wherever node is
            cwd=draft,
            check=True,
            capture_output=True,
            timeout=INSTALL_SECONDS,
        )
        try:
            draft.rename(folder)
        except OSError:  # another worker was faster
            shutil.rmtree(draft)
    return folder
