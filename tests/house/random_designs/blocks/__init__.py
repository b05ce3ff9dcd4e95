"""What stands in a block function: processes, functions, memories, state machines, instances."""
