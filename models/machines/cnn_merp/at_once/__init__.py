"""Code for engines that all run concurrently, shared by the pipeline and the chain of boards."""
