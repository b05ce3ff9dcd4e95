"""What several verbs share: arguments, tables, files."""
