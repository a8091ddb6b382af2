"""How cost grows with size: what each part of the growth benchmark measures, and the power laws through it."""
