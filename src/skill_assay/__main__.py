"""`python -m skill_assay` is `assay`."""

from skill_assay.cli.main import main

if __name__ == "__main__":
    main()
