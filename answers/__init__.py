"""Pure rules of an answer, shared by nodes, tools, api, evals and cli."""
