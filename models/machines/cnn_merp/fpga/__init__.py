"""What CNN-MERP's engines take of an FPGA, by formula."""
