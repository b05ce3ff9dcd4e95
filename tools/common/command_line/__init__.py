"""The parser of the command line, what its verbs are for, and the verbs about verbs."""
