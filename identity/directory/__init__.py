"""The one directory of who exists and what each may do."""
