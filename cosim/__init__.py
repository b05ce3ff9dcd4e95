"""Simulation engines behind one interface: MyHDL, Verilator, GHDL."""
