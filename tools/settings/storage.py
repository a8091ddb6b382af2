"""The standby of ``tools/storage``."""

from typing import Annotated

from pydantic import SecretStr

from tools.settings.section import Section, Unset


class ReplicaSettings(Section):
    """A standby of the database that answers searches and readings; without ``url`` the primary does."""

    url: Annotated[SecretStr | None, Unset] = None
