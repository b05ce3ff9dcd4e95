"""Parts of a hardware half that serve any machine: those that a machine does not bring itself."""
