"""What `make bench` measures: always beside a peer or a limit in the same run, because machines differ."""
