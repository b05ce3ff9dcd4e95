"""Several architectures on one network: tables, JSON and a page."""
