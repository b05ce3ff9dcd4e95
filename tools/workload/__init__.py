"""``merp workload``."""
