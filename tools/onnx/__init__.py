"""Files that an ONNX model becomes, and what is said about them."""
