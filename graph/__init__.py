"""The graph's types, ports, events and wiring. Importing the package alone imports no module of it."""
