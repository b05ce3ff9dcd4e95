"""From MyHDL blocks to hierarchical VHDL and Verilog."""
