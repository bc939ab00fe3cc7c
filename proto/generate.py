"""Make gen/ from proto/.

Python messages with stubs (protoc), typed async client stubs (mypy-protobuf), plain dataclass clients
(betterproto2) and the OpenAPI documents (edge.openapi, edge.oidc.openapi). `--check` regenerates into a temporary
folder and fails when gen/ differs; `--compare-openapi FILE` fails when a released route or property is gone.
`--rules` makes the module of buf.validate alone, which is not committed; `--image FILE` writes what buf checks.
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

import imports
from google.protobuf.descriptor_pb2 import FileDescriptorSet

ROOT = Path(__file__).resolve().parent.parent
PROTO = ROOT / "proto"
GEN = ROOT / "gen"
# Its clients have messages of their own.
ZEEBE = "gnomon/gateway_protocol/"

# The rules of buf.validate are part of our wheel: their module moves below ours so that no other top-level appears.
RULES = Path("gnomon/buf")
RELOCATED_IMPORT = re.compile(r"^from buf\.validate import", re.MULTILINE)


def main() -> int:
    arguments = _arguments()
    if arguments.compare_openapi:
        return _compare_openapi(arguments.compare_openapi)
    if arguments.check:
        return _check()
    if arguments.rules:
        generate_rules(GEN)
    elif arguments.image:
        _image(arguments.image)
    else:
        _replace()
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--compare-openapi", type=Path)
    parser.add_argument("--rules", action="store_true")
    parser.add_argument("--image", type=Path)
    return parser.parse_args()


def _replace() -> None:
    with tempfile.TemporaryDirectory() as folder:
        fresh = Path(folder) / "gen"
        generate(fresh)
        shutil.rmtree(GEN, ignore_errors=True)
        shutil.copytree(fresh, GEN)


def generate(out: Path) -> None:
    out.mkdir(parents=True)
    own = _own()
    _protoc(own, "--python_out", "--mypy_out", "--grpc_python_out", "--mypy_grpc_out", out=out)
    _relocate_imports(out)
    generate_rules(out)
    (out / "gnomon" / "py.typed").touch()
    _plain_dataclasses([file for file in own if not file.startswith(ZEEBE)], out)
    _openapi(out)


def generate_rules(out: Path) -> None:
    """Make the module of buf.validate below `out`, in place of the one that is there."""
    with tempfile.TemporaryDirectory() as folder:
        fresh = Path(folder)
        _protoc([imports.RULES], "--python_out", "--mypy_out", out=fresh)
        shutil.rmtree(out / RULES, ignore_errors=True)
        shutil.copytree(fresh / "buf", out / RULES)


def _own() -> list[str]:
    return sorted(str(path.relative_to(PROTO)) for path in (PROTO / "gnomon").rglob("*.proto"))


def _image(path: Path) -> None:
    """Write our contracts with their comments and imports as one descriptor set."""
    _protoc(_own(), "--include_imports", "--include_source_info", "--descriptor_set_out", out=path)


def _protoc(files: list[str], *outputs: str, out: Path) -> None:
    arguments = [
        output if "=" in output or output.startswith("--include_") else f"{output}={out}"
        for output in outputs
    ]
    with tempfile.TemporaryDirectory() as folder:
        imported = Path(folder) / "imports.binpb"
        imports.write(imported)
        resolved = (f"-I{PROTO}", f"--descriptor_set_in={imported}")
        _run([sys.executable, "-m", "grpc_tools.protoc", *resolved, *arguments, *files])


def _relocate_imports(out: Path) -> None:
    for path in [*out.rglob("*_pb2.py"), *out.rglob("*_pb2.pyi")]:
        path.write_text(RELOCATED_IMPORT.sub("from gnomon.buf.validate import", path.read_text()))


def _plain_dataclasses(own: list[str], out: Path) -> None:
    plain = out / "gnomon" / "plain"
    plain.mkdir()
    options = "--python_betterproto2_opt=client_generation=async"
    _protoc(own, options, "--python_betterproto2_out", out=plain)
    # Options have no meaning in a client.
    for imported in (plain / "buf", plain / "google" / "api"):
        shutil.rmtree(imported)


def _openapi(out: Path) -> None:
    (out / "openapi").mkdir()
    with tempfile.TemporaryDirectory() as folder:
        image = Path(folder) / "image.binpb"
        _image(image)
        document = _document(FileDescriptorSet.FromString(image.read_bytes()), out)
    (out / "openapi" / "gnomon.json").write_text(document)
    (out / "openapi" / "provider.json").write_text(_document_of_provider())


def _document(descriptors: FileDescriptorSet, out: Path) -> str:
    sys.path[:0] = [str(ROOT), str(out)]
    from edge import openapi  # noqa: PLC0415  # reads the messages that were generated a moment ago

    return openapi.render(descriptors)


def _document_of_provider() -> str:
    from edge.oidc import routes  # noqa: PLC0415  # reads the messages that were generated a moment ago
    from edge.oidc.openapi.document import render  # noqa: PLC0415

    return render(routes.table())


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
