"""Mail and HTTP requests to other servers, with a durable retry queue."""
