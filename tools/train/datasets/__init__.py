"""Labelled images: files, folders and arrays of a user, and scikit-learn's digits."""
