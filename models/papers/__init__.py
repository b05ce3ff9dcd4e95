"""The papers that merp compares: their printed numbers and their formulas."""
