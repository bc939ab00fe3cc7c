"""`gnomon survive`: a process instance outlives the server that it began in."""
