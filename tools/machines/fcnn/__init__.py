"""F-CNN on the command line and in the library."""
