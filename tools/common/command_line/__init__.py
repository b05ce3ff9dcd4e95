"""The parser of the command line, the descriptions of its verbs, ``help``, ``completion``."""
