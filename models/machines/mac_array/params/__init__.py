"""Parameters of the fixed-point MAC array: its design, its passes, its registers and its words."""
