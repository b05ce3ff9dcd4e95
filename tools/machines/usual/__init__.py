"""Default parts of a hardware half, for machines without their own parts."""
