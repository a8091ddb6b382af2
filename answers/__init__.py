"""Pure answer rules shared by nodes, tools, api, evals and cli."""
