"""`python -m skill_assay` is `assay`."""

from skill_assay.cli.main import main

# Worker processes import the main module under another name; they must not start the command again.
if __name__ == "__main__":
    main()
