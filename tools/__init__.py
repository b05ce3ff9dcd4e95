"""The command line, reports and network files."""
