"""Benches of exported packages by cocotb; ``merp.cocotb`` names what is public of them."""
