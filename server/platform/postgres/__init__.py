"""PostgreSQL below the services: its configuration and the server that comes along."""
