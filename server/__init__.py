"""The process engine, and the platform that all services share."""
