"""``merp simulate --board``: the passes of a plan, in the hardware."""
