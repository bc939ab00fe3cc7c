"""`gnomon demo`: deploy the examples, run instances of each with workers, and show the results.

All calls use gRPC and the generated stubs, even if the server runs in the same process.
"""
