"""Work that a browser does before it costs us anything."""
