"""Rules without a model, which every backend shares and a model's backend falls back on."""
