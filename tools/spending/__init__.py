"""What models cost, what was spent by whom, and the limits of a day."""
