"""The MAC array's parts for the commands."""
