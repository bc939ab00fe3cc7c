"""The command line: one file per command.

People get tables, colours and progress. Programs use `--json`, which prints the documents of the HTTP API.
Exit code 0 is success, 1 a refusal or incomplete work, 2 a command that could not start.
"""

import os

# gRPC reads the variable once, at import. Commands report errors themselves, so gRPC must not print to
# standard error.
os.environ.setdefault("GRPC_VERBOSITY", "NONE")
