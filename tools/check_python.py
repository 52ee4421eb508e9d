"""Stop with one clear sentence when this Python is not one the project runs on. Old Pythons can read this file."""

import sys

if not (3, 11) <= sys.version_info[:2] <= (3, 13):
    found = ".".join(str(part) for part in sys.version_info[:3])
    sys.exit(
        f"Skill Assay needs Python 3.11, 3.12 or 3.13, and {sys.executable} is {found}.\n"
        "  Name another one: make PYTHON=python3.12 …"
    )
try:
    import venv  # noqa: F401
except ImportError:
    sys.exit("This Python has no venv module; on Debian and Ubuntu: apt-get install python3-venv")
