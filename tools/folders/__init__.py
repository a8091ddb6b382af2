"""Folders of this machine: where a library lies if no setting says so."""
