"""The table of commands that only read, by name."""

from everturn.permissions.shell.readonly.options import Table
from everturn.permissions.shell.readonly.search_tables import SEARCH_TABLES
from everturn.permissions.shell.readonly.system_tables import SYSTEM_TABLES
from everturn.permissions.shell.readonly.text_tables import TEXT_TABLES

TABLES: dict[str, Table] = {**SYSTEM_TABLES, **TEXT_TABLES, **SEARCH_TABLES}
