"""Small MyHDL designs whose meaning in Python a converter easily loses, one theme a module."""
