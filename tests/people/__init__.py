"""People who sign in: a browser without script, which does by itself what the page's script would do."""
