"""What drives and checks a top behind AXI."""
