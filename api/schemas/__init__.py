"""What requests may hold and what replies tell: a module for each dialect, and what they share."""
