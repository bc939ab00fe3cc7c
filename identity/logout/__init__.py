"""The end of sessions: asked for by relying parties, told to them."""
