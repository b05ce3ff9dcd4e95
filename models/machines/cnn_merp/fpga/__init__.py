"""FPGA resources of CNN-MERP's engines, by formula."""
