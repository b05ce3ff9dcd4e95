"""The verbs of the command line: each reads its options, calls the library, and prints."""
