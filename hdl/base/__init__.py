"""Signals, delays, memories and counters that every room builds on."""
