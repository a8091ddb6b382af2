"""One node a file; file, function and node share a name. Nodes know ports, never what implements them."""
