"""The Python library of ``import merp``: networks and layers."""
