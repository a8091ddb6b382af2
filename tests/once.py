"""What every deployment, graph and client makes anew, made once a process: tests open hundreds of them."""

import ssl
from functools import cache

import httpcore2
import langgraph.graph.state
import langgraph.pregel._read

# A client reads the machine's certificates, 20 ms of CPU, for connections on loopback that show none.
ssl.create_default_context = cache(ssl.create_default_context)
httpcore2.default_ssl_context = cache(httpcore2.default_ssl_context)

# LangGraph looks for graphs within each node of a graph that is compiled, of which there are none: it disassembles the
# node, which takes half of opening a deployment. And it reads the types of our state anew for each node.
langgraph.pregel._read.find_subgraph_pregel = lambda _: None  # type: ignore[assignment]
_hints = langgraph.graph.state.get_type_hints
_hints_of_class = cache(_hints)
langgraph.graph.state.get_type_hints = lambda given, **how: (
    dict(_hints_of_class(given, **how)) if isinstance(given, type) else _hints(given, **how)
)
