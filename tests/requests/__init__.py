"""Random requests to every documented operation: no answer is a failure of the server or leaves the documents.

The requests follow from the OpenAPI documents that the server serves. `python -m tests.requests COUNT SEED` sends many
and prints what it found; the test here sends a few.
"""
