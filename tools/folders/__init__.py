"""Folders that a deployment uses where no setting names one: the lowest floor, for what starts before the settings."""
