"""`gnomon demo`: deploy the examples, run instances of each with a worker, show what happens.

Everything goes through gRPC and the generated stubs, also where the server is in the same process.
"""
