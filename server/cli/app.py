"""All commands, each with its name, import path and help."""

from typing import Annotated

import typer

from server.cli.admin.group import admin
from server.cli.lazy_command import add_command
from server.cli.list_by_default import ListByDefault

app = typer.Typer(
    help="A process engine and an OpenID Connect provider.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
instances = typer.Typer(
    help="List process instances, show, modify, migrate, cancel or delete one.", cls=ListByDefault
)
jobs = typer.Typer(help="Work on jobs, or list them.", no_args_is_help=True)
tasks = typer.Typer(help="List user tasks, claim one, or complete one.", cls=ListByDefault)
incidents = typer.Typer(help="List the incidents of process instances, or resolve one.", cls=ListByDefault)
batch = typer.Typer(help="List batch operations, begin, suspend, resume or cancel one.", cls=ListByDefault)
messages = typer.Typer(help="Publish messages to process instances.", no_args_is_help=True)
users = typer.Typer(
    help="Import or export users, export the data of one, or erase one.", no_args_is_help=True
)
signals = typer.Typer(help="Broadcast signals to process instances.", no_args_is_help=True)

add_command(
    app,
    "serve",
    "server.cli.serve:serve",
    "Serve HTTP and gRPC until SIGTERM or Ctrl-C; prints one line once both are ready.",
)
add_command(app, "deploy", "server.cli.deploy:deploy", "Deploy models; an unchanged model keeps its version.")
add_command(
    app,
    "delete",
    "server.cli.deletion:delete",
    "Delete a process definition or a requirements graph; the previous version takes its place.",
)
add_command(app, "start", "server.cli.start:start", "Start an instance of a process.")
app.add_typer(instances, name="instances")
add_command(
    instances,
    "list",
    "server.cli.instances:instances",
    "List process instances, the newest first; or show one with its elements and variables.",
)
add_command(
    instances,
    "show",
    "server.cli.instance:show",
    "Show a process instance as a tree of its element instances, with variables and incidents.",
)
add_command(
    instances,
    "cancel",
    "server.cli.cancellation:cancel",
    "Cancel a process instance.",
)
add_command(
    instances,
    "delete",
    "server.cli.history_deletion:delete",
    "Delete the history of a process instance that has ended.",
)
add_command(
    instances,
    "migrate",
    "server.cli.migration:migrate",
    "Migrate a process instance to another process definition.",
)
add_command(
    instances,
    "modify",
    "server.cli.modification:modify",
    "Activate, terminate and move elements of a process instance, all or nothing.",
)
app.add_typer(jobs, name="jobs")
add_command(
    jobs,
    "work",
    "server.cli.work:work",
    "Work on jobs until Ctrl-C, then finish the running ones; a second Ctrl-C ends at once. "
    "The exit code is 1 if there were jobs and none was completed.",
)
add_command(jobs, "list", "server.cli.jobs:list_jobs", "List jobs, the newest first.")
app.add_typer(tasks, name="tasks")
add_command(tasks, "list", "server.cli.tasks:list_tasks", "List user tasks, the newest first.")
add_command(
    tasks, "claim", "server.cli.tasks:claim", "Assign a user task to a user, unless it is assigned already."
)
add_command(tasks, "complete", "server.cli.tasks:complete", "Complete a user task.")
app.add_typer(incidents, name="incidents")
add_command(incidents, "list", "server.cli.incidents:list_incidents", "List incidents, the newest first.")
add_command(
    incidents,
    "resolve",
    "server.cli.incidents:resolve",
    "Resolve an incident: the engine repeats the failed step.",
)
app.add_typer(batch, name="batch")
add_command(batch, "list", "server.cli.batches:list_batches", "List batch operations, the newest first.")
add_command(batch, "show", "server.cli.batches:show_batch", "Show the progress of a batch operation.")
add_command(
    batch,
    "suspend",
    "server.cli.batches:suspend",
    "Suspend a batch operation: it processes no further items.",
)
add_command(batch, "resume", "server.cli.batches:resume", "Resume a suspended batch operation.")
add_command(
    batch, "cancel", "server.cli.batches:cancel", "Cancel a batch operation before all items are processed."
)
add_command(
    batch,
    "begin",
    "server.cli.batch_begin:begin",
    "Begin a batch operation on the process instances that match.",
)
app.add_typer(messages, name="messages")
add_command(messages, "publish", "server.cli.messages:publish", "Publish a message to process instances.")
add_command(
    messages,
    "correlate",
    "server.cli.messages:correlate",
    "Publish a message to process instances that wait for it now, or start some with it.",
)
app.add_typer(signals, name="signals")
add_command(signals, "broadcast", "server.cli.signals:broadcast", "Broadcast a signal to process instances.")
app.add_typer(users, name="users")
add_command(
    users,
    "import",
    "server.cli.users.imports:import_users",
    "Create accounts for the users of a file, with their password hashes; existing accounts never change.",
)
add_command(
    users,
    "export",
    "server.cli.users.exports:export_users",
    "Write the users of a tenant to a file, which an import can read.",
)
add_command(
    users,
    "export-data",
    "server.cli.users.personal_data:export_data",
    "Write everything that is stored about one user, as one JSON document.",
)
add_command(
    users,
    "erase",
    "server.cli.users.personal_data:erase",
    "Delete a user, and put a pseudonym in the place of the user elsewhere; or show how far that is.",
)
add_command(
    app,
    "demo",
    "server.cli.demo.command:demo",
    "Deploy the examples, run instances of each, and show a summary; without --address it starts a server.",
)
add_command(
    app,
    "lint",
    "server.cli.lint:lint_files",
    "Check models without a server; if a deployment would refuse them, the exit code is 1.",
)
add_command(
    app,
    "diagram",
    "server.cli.diagram.command:diagram",
    "Draw a process as SVG or PNG: of a file, or of a deployed process or an instance with its tokens.",
)
add_command(
    app, "dmn", "server.cli.dmn:dmn", "Evaluate a decision of a file; if it fails, the exit code is 1."
)
add_command(
    app,
    "feel",
    "server.cli.feel:feel",
    "Evaluate an expression; if it has no result, the exit code is 1.",
)
app.add_typer(admin, name="admin")
add_command(
    app,
    "survive",
    "server.cli.survive.command:survive",
    "Show that a process instance survives its server: the server is killed, starts again, and completes it.",
)
add_command(app, "version", "server.cli.version:show_version", "Show the version, as --version does.")


def _show_version(is_wanted: bool) -> None:  # noqa: FBT001  # as typer calls it
    if is_wanted:
        # Other commands need no distribution metadata.
        from server.cli.version import show_version  # noqa: PLC0415

        show_version()
        raise typer.Exit


@app.callback()
def root(
    *,
    _version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """A process engine and an OpenID Connect provider."""
