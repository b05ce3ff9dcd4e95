"""What the converter rests on: MyHDL's private names, sources of functions, names, errors."""
