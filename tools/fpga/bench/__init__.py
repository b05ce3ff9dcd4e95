"""cocotb testbenches of exported packages; ``merp.cocotb`` exports the public names."""
