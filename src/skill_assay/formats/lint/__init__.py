"""What `assay lint` knows: one small function a rule, gathered in tuples by the kind of file they judge."""
