"""Provide the basis of the converter: MyHDL's private names, function sources, names, errors."""
