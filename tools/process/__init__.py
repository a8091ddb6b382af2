"""What a process opens: its library, the engines that its settings name, and what looks after both."""
