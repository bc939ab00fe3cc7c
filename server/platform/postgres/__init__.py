"""PostgreSQL for the services: its configuration and the bundled server."""
