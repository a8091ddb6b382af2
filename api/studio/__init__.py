"""The graph behind LangGraph's own server, for its Studio and for chat clients of its protocol."""
