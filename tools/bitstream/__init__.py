"""What an FPGA is loaded with: designs, registers, files about them."""
