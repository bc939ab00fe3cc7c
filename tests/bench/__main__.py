"""Run the benchmarks and print their tables; a name as argument runs one of them."""

import sys
from collections.abc import Callable, Mapping

from rich.console import Console, RenderableType

from tests.bench import (
    commits,
    decisions,
    definitions,
    directory,
    documents,
    durable,
    feel,
    footprint,
    growth,
    http,
    imports,
    instances,
    lists,
    pages,
    recovery,
    revocations,
    searches,
    sign_out,
    statistics,
    tenants,
    tokens,
    tunnel,
    viewers,
    waiting,
    workers,
)

BENCHMARKS: Mapping[str, Callable[[], RenderableType]] = {
    "instances": instances.table,
    "http": http.table,
    "durable": durable.table,
    "commits": commits.table,
    "growth": growth.table,
    "definitions": definitions.table,
    "tenants": tenants.table,
    "footprint": footprint.table,
    "pages": pages.table,
    "waiting": waiting.table,
    "recovery": recovery.table,
    "revocations": revocations.table,
    "searches": searches.table,
    "sign_out": sign_out.table,
    "statistics": statistics.table,
    "viewers": viewers.table,
    "directory": directory.table,
    "lists": lists.table,
    "imports": imports.table,
    "tunnel": tunnel.table,
    "workers": workers.table,
    "tokens": tokens.table,
    "documents": documents.table,
    "feel": feel.table,
    "decisions": decisions.table,
}


def main() -> None:
    console = Console(width=170)
    for name in sys.argv[1:] or BENCHMARKS:
        console.print(BENCHMARKS[name]())


if __name__ == "__main__":
    main()
