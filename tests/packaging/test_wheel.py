"""The wheel, installed into an environment of its own, outside of the checkout."""

import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path
from urllib.request import urlopen
from zipfile import ZipFile

import pytest

from tests.server_process import ROOT, server_process

_BUILD = ("wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir")
_INSTALL = ("install", "--quiet", "--no-deps", "--no-index")


@pytest.fixture(scope="module")
def gnomon(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The installed command; its dependencies are those of this environment, the package itself is the wheel's."""
    directory = tmp_path_factory.mktemp("wheel")
    pip(*_BUILD, str(directory / "dist"), str(ROOT))
    (wheel,) = (directory / "dist").glob("gnomon-*.whl")
    environment = directory / "environment"
    venv.create(environment)
    python = environment / "bin/python"
    pip("--python", str(python), *_INSTALL, str(wheel))
    dependencies = sysconfig.get_path("purelib")
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(environment)}))
    (packages / "dependencies.pth").write_text(dependencies)
    return environment / "bin/gnomon"


def pip(*arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "pip", "--disable-pip-version-check", *arguments], check=True)


def test_the_installed_command_runs_the_examples(gnomon: Path, tmp_path: Path) -> None:
    ended = subprocess.run(
        [gnomon, "demo"],
        cwd=tmp_path,
        env={**os.environ, "COLUMNS": "120"},
        check=False,
        capture_output=True,
        text=True,
    )

    assert ended.returncode == 0, ended.stderr
    assert "order-fulfilment" in ended.stdout


def test_the_installed_server_has_its_pages_and_its_description(gnomon: Path, tmp_path: Path) -> None:
    with server_process(command=[str(gnomon)], directory=tmp_path) as addresses:
        page = read(f"{addresses.http}/auth/v1/")
        description = read(f"{addresses.http}/openapi.json")

    assert "<html" in page
    assert '"openapi"' in description


def test_the_wheel_has_the_viewer_of_diagrams_with_its_licence(tmp_path: Path) -> None:
    here = {path.name for path in (ROOT / "edge/console/diagram").glob("*")}
    if not here:
        pytest.skip("make diagram was not run: npm fetches the viewer")
    pip(*_BUILD, str(tmp_path), str(ROOT))
    (wheel,) = tmp_path.glob("gnomon-*.whl")
    names = ZipFile(wheel).namelist()

    assert here == {Path(name).name for name in names if name.startswith("edge/console/diagram/")}
    assert {"LICENSE", "bpmn-navigated-viewer.production.min.js", "bpmn-js.css", "diagram-js.css"} == here


def test_the_wheel_has_the_editors_of_models_with_their_licences(tmp_path: Path) -> None:
    here = {path.name for path in (ROOT / "edge/console/editors").glob("*")}
    if not here:
        pytest.skip("make editors was not run: npm fetches the editors")
    pip(*_BUILD, str(tmp_path), str(ROOT))
    (wheel,) = tmp_path.glob("gnomon-*.whl")
    names = ZipFile(wheel).namelist()

    assert here == {Path(name).name for name in names if name.startswith("edge/console/editors/")}
    assert here == {
        "LICENSE",
        *(f"{editor}-editor.{ending}" for editor in ("bpmn", "dmn", "form") for ending in ("js", "css")),
    }


def test_the_wheel_has_the_viewer_of_the_openapi_document_with_its_licences(tmp_path: Path) -> None:
    here = {path.name for path in (ROOT / "edge/documentation/viewer").glob("*")}
    if not here:
        pytest.skip("make viewer was not run: npm fetches the viewer")
    pip(*_BUILD, str(tmp_path), str(ROOT))
    (wheel,) = tmp_path.glob("gnomon-*.whl")
    names = {name for name in ZipFile(wheel).namelist() if name.startswith("edge/documentation/")}

    assert here == {Path(name).name for name in names if "/viewer/" in name}
    assert here == {
        "LICENSE",
        "NOTICE",
        "swagger-ui-bundle.js",
        "swagger-ui-bundle.js.LICENSE.txt",
        "swagger-ui.css",
    }
    assert {"docs.css", "docs.js"} == {Path(name).name for name in names if "/static/" in name}


def read(address: str) -> str:
    with urlopen(address) as response:  # noqa: S310  # the server of this test
        text: str = response.read().decode()
        return text
