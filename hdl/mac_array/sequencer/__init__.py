"""Sequencers: in every cycle, issue a slot or report the cause of a stall."""
