"""The same random processes and histories on Zeebe 8.6 and on our engine, compared after every step."""
