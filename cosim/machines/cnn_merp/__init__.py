"""CNN-MERP on an engine: its phases, passes, pipelines, chains and training."""
