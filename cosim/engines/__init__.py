"""Simulators behind one interface: MyHDL, Verilator, GHDL."""
