"""Shipped networks, network files, and ONNX models."""
