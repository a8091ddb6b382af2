"""Writing models from the registry as ONNX folders, for tests and for those who want them."""
