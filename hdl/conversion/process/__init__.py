"""From the Python of a process to statements of VHDL and Verilog."""
