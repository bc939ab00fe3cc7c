"""gRPC servicers: each checks the request, delegates, and maps the result."""
