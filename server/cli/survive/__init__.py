"""`gnomon survive`: show that a process instance survives a crash of its server."""
