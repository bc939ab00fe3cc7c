"""The `gnomon demo` command."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager, nullcontext
from typing import Annotated

import msgspec
import typer
from rich.live import Live

from server.cli.client_command import options_command
from server.cli.demo.play import Play, Watch
from server.cli.demo.scenarios import SCENARIOS
from server.cli.demo.screen import conclusion, progress
from server.cli.demo.summary import Summary, summary_of
from server.cli.demo.tally import Tally
from server.cli.failures import REFUSED
from server.cli.options import ClientOptions
from server.cli.output import Output
from server.cli.session import connected


@options_command
async def demo(
    options: ClientOptions,
    instances: Annotated[int, typer.Option(min=1, max=10_000, help="Instances of each process.")] = 40,
    most_seconds: Annotated[
        int, typer.Option("--timeout", min=1, help="Seconds after which the command gives up.")
    ] = 120,
) -> None:
    output = Output(is_json=options.json)
    async with _server(options) as server, connected(server) as session:
        began_at = asyncio.get_running_loop().time()
        play = Play(session, SCENARIOS, instances=instances)
        with _watching(output, instances) as watch:
            tallies = await play.run(watch, seconds=most_seconds)
        seconds = asyncio.get_running_loop().time() - began_at
    summary = summary_of(tallies, play.jobs, instances=instances, seconds=seconds)
    _show(summary, output)
    if not summary.is_complete:
        raise typer.Exit(REFUSED)


def _server(options: ClientOptions) -> AbstractAsyncContextManager[ClientOptions]:
    """Return the options of the named server, or start a server for the demo."""
    if options.address is not None:
        return nullcontext(options)
    # Importing the server takes time that users of another server need not wait.
    from server.cli.demo.own_server import own_server  # noqa: PLC0415

    return own_server()


@contextmanager
def _watching(output: Output, instances: int) -> Iterator[Watch]:
    if output.is_json or not output.console.is_terminal:
        yield lambda _: None
        return
    with Live(console=output.console, transient=True) as live:

        def watch(tallies: Sequence[Tally]) -> None:
            live.update(progress(tallies, instances=instances), refresh=True)

        yield watch


def _show(summary: Summary, output: Output) -> None:
    if output.is_json:
        output.document(msgspec.json.encode(summary))
    else:
        output.print(conclusion(summary))
