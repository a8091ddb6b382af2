"""The graph's nodes, one a file; file, function and node share a name. Nodes know ports, not implementations."""
