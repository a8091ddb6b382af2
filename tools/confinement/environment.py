"""The environment for a process that shall know nothing of the deployment."""

import os

# How a program finds its libraries, fonts and language. Whatever else is set may be a secret, whatever its name.
_KEPT = {
    *("PATH", "LANG", "LANGUAGE", "TZ", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH"),
    *("PYTHONHOME", "PYTHONUTF8", "PYTHONHASHSEED", "PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX"),
    *("FONTCONFIG_FILE", "FONTCONFIG_PATH", "TESSDATA_PREFIX"),
}


def plain_environment() -> dict[str, str]:
    """Return the variables of this process that hold no secret: an allow-list."""
    return {name: value for name, value in os.environ.items() if name in _KEPT or name.startswith("LC_")}
