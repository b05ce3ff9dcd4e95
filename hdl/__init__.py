"""MyHDL blocks of the CNN-MERP datapath and their conversion to VHDL and Verilog."""
