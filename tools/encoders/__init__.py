"""Encoders of a folder, run by ONNX Runtime in a process of their own."""
