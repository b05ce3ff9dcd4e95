"""Import networks and their parameters from ONNX models, and export parameters into them."""
