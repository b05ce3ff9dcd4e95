"""Translate the Python of a process into statements of VHDL and Verilog."""
