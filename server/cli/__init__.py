"""The command line: one file per command.

Tables, colours and progress where a person looks; `--json` where a program does, in the documents of the HTTP API.
Exit code 0 is success, 1 a refusal or something left undone, 2 a command that could not be begun.
"""

import os

# gRPC reads it once, when it is imported: what it would print on standard error, a command says in its own words.
os.environ.setdefault("GRPC_VERBOSITY", "NONE")
