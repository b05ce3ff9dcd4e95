"""The parser of the command line, the descriptions of its verbs, and ``help`` and
``completion``."""
