"""Code that several verbs share: arguments, tables, files."""
