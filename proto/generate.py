"""Make gen/ from proto/.

Python messages with stubs (protoc), typed async client stubs (mypy-protobuf), plain dataclass clients
(betterproto2) and the OpenAPI document (edge.openapi). `--check` regenerates into a temporary folder and fails
when gen/ differs; `--compare-openapi FILE` fails when a released route or property is gone.
"""

import argparse
import filecmp
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from google.protobuf.descriptor_pb2 import FileDescriptorSet

ROOT = Path(__file__).resolve().parent.parent
PROTO = ROOT / "proto"
GEN = ROOT / "gen"
# Its clients have messages of their own.
ZEEBE = "gnomon/gateway_protocol/"

# The rules of buf.validate are part of our wheel: their module moves below ours so that no other top-level appears.
RELOCATED_IMPORT = re.compile(r"^from buf\.validate import", re.MULTILINE)


def main() -> int:
    arguments = _arguments()
    if arguments.compare_openapi:
        return _compare_openapi(arguments.compare_openapi)
    if arguments.check:
        return _check()
    _replace()
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--compare-openapi", type=Path)
    return parser.parse_args()


def _replace() -> None:
    with tempfile.TemporaryDirectory() as folder:
        fresh = Path(folder) / "gen"
        generate(fresh)
        shutil.rmtree(GEN, ignore_errors=True)
        shutil.copytree(fresh, GEN)


def generate(out: Path) -> None:
    out.mkdir(parents=True)
    own = sorted(str(path.relative_to(PROTO)) for path in (PROTO / "gnomon").rglob("*.proto"))
    _protoc(own, "--python_out", "--mypy_out", "--grpc_python_out", "--mypy_grpc_out", out=out)
    _protoc(["buf/validate/validate.proto"], "--python_out", "--mypy_out", out=out)
    _relocate_rules(out)
    (out / "gnomon" / "py.typed").touch()
    _plain_dataclasses([file for file in own if not file.startswith(ZEEBE)], out)
    _openapi(own, out)


def _protoc(files: list[str], *outputs: str, out: Path) -> None:
    arguments = [f"{output}={out}" for output in outputs]
    _run([sys.executable, "-m", "grpc_tools.protoc", f"-I{PROTO}", *arguments, *files])


def _relocate_rules(out: Path) -> None:
    (out / "buf").rename(out / "gnomon" / "buf")
    for path in [*out.rglob("*_pb2.py"), *out.rglob("*_pb2.pyi")]:
        path.write_text(RELOCATED_IMPORT.sub("from gnomon.buf.validate import", path.read_text()))


def _plain_dataclasses(own: list[str], out: Path) -> None:
    plain = out / "gnomon" / "plain"
    plain.mkdir()
    _protoc(own, "--python_betterproto2_opt=client_generation=async", "--python_betterproto2_out", out=plain)


def _openapi(own: list[str], out: Path) -> None:
    (out / "openapi").mkdir()
    with tempfile.TemporaryDirectory() as folder:
        described = Path(folder) / "descriptors.binpb"
        _run(
            [
                *(
                    sys.executable,
                    "-m",
                    "grpc_tools.protoc",
                    f"-I{PROTO}",
                    f"--descriptor_set_out={described}",
                ),
                *("--include_imports", "--include_source_info", *own),
            ]
        )
        document = _document(FileDescriptorSet.FromString(described.read_bytes()), out)
    (out / "openapi" / "gnomon.json").write_text(document)


def _document(descriptors: FileDescriptorSet, out: Path) -> str:
    sys.path[:0] = [str(ROOT), str(out)]
    from edge import openapi  # noqa: PLC0415  # reads the messages that were generated a moment ago

    return openapi.render(descriptors)


def _check() -> int:
    with tempfile.TemporaryDirectory() as folder:
        fresh = Path(folder) / "gen"
        generate(fresh)
        differences = sorted(_differences(fresh, GEN))
    for difference in differences:
        sys.stderr.write(f"gen/{difference} is not what proto/ says: run `make generate`\n")
    return 1 if differences else 0


def _differences(left: Path, right: Path) -> set[str]:
    names = {
        str(path.relative_to(root)) for root in (left, right) for path in root.rglob("*") if _counts(path)
    }
    return {name for name in names if not _same(left / name, right / name)}


def _counts(path: Path) -> bool:
    return path.is_file() and "__pycache__" not in path.parts


def _same(left: Path, right: Path) -> bool:
    return left.is_file() and right.is_file() and filecmp.cmp(left, right, shallow=False)


def _compare_openapi(released: Path) -> int:
    sys.path[:0] = [str(ROOT), str(GEN)]
    from edge import openapi  # noqa: PLC0415  # needs gen/ on the path

    broken = openapi.breaking_changes(released.read_text(), (GEN / "openapi" / "gnomon.json").read_text())
    for change in broken:
        sys.stderr.write(f"breaking: {change}\n")
    return 1 if broken else 0


def _run(command: list[str]) -> None:
    plugins = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": plugins}
    done = subprocess.run(  # noqa: S603  # our own arguments
        command, check=False, cwd=ROOT, env=environment, capture_output=True, text=True
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{done.stderr}")


if __name__ == "__main__":
    raise SystemExit(main())
