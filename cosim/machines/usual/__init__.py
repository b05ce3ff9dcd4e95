"""Parts of the hardware half that serve any machine."""
