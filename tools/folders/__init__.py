"""Where a deployment keeps what it stores: found without checking a setting, which takes longer than all else."""
