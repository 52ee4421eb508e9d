"""`python -m skill_assay` is `assay`."""

from skill_assay.cli.main import main

main()
