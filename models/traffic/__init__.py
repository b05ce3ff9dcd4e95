"""Memory traffic: what crosses the ports, by formula and by walking the schedule.

MB are 10^6 bytes, a multiply-add is two operations; footings are never mixed.
"""
