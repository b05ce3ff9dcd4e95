"""CNN-MERP's schedule: cycles, efficiency, reconfiguration."""
