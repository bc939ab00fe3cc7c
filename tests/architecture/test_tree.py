"""The tree of the provider is the one that docs/architecture.md draws, and module names are nouns."""

import re
from collections import Counter
from functools import cache
from pathlib import Path

import grimp

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text()
DRAWN = re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)
MOST_FILES = 25
DEEPEST = 10

# These words end like a gerund and are nouns.
NOUNS = {"binding", "embedding", "logging", "mapping", "provisioning", "string", "tracing", "ring"}


def test_the_page_names_the_packages_of_the_provider() -> None:
    packages = {path.parent.name for path in (ROOT / "identity").glob("*/__init__.py")}

    assert packages - {"wiring"} == set(DRAWN)


def test_a_package_imports_only_those_above_it_in_the_table() -> None:
    graph = grimp.build_graph("identity", exclude_type_checking_imports=True)
    upward = [
        (importer, imported)
        for importer in sorted(graph.modules)
        for imported in sorted(graph.find_modules_directly_imported_by(importer))
        if _part(importer) in DRAWN and _rank(_part(imported)) > _rank(_part(importer))
    ]

    assert upward == []


def test_the_import_graph_of_the_provider_is_shallow() -> None:
    graph = grimp.build_graph("identity", exclude_type_checking_imports=True)
    imported_by: dict[str, set[str]] = {}
    for importer in graph.modules:
        for imported in graph.find_modules_directly_imported_by(importer):
            if _part(importer) and _part(imported) != _part(importer):
                imported_by.setdefault(_part(importer), set()).add(_part(imported))

    @cache
    def depth(part: str) -> int:
        return 1 + max((depth(imported) for imported in imported_by.get(part, ())), default=0)

    assert max(map(depth, imported_by)) <= DEEPEST


def test_no_package_of_the_provider_has_too_many_files() -> None:
    sizes = Counter(path.parent for path in (ROOT / "identity").rglob("*.py"))

    assert {str(folder): size for folder, size in sizes.items() if size > MOST_FILES} == {}


def test_module_names_are_nouns() -> None:
    gerunds = [
        str(path.relative_to(ROOT))
        for top in ("server", "identity", "edge")
        for path in (ROOT / top).rglob("*.py")
        if path.stem.endswith("ing") and path.stem.split("_")[-1] not in NOUNS
    ]

    assert gerunds == []


def _part(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def _rank(part: str) -> int:
    return DRAWN.index(part) if part in DRAWN else len(DRAWN)


def test_contracts_of_others_come_from_installed_packages() -> None:
    assert {path.relative_to(ROOT / "proto").parts[0] for path in (ROOT / "proto").rglob("*.proto")} == {
        "gnomon"
    }
