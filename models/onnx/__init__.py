"""Networks and their parameters from ONNX models, and back into them."""
