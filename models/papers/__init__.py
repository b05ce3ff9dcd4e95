"""The numbers that the papers print, a list for each paper."""
