"""What operators see of a process: metrics, traces and logs."""
