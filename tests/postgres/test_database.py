from tools.database import Database, migrate
from tools.settings import Settings
from tools.workspaces import Workspaces


async def test_a_migrated_database_has_nothing_pending(settings: Settings) -> None:
    assert await migrate(settings) == []


async def test_default_workspace_exists_from_the_first_open(database: Database) -> None:
    assert await Workspaces(database).number("default") == 1
