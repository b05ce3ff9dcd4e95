"""Stream components: FIFOs, gates, credits, bit packing and width conversion."""
