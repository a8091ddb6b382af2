"""Who asks: API keys, tokens and the keys that sign them."""
