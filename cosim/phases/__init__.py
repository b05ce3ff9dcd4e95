"""What a pass of each phase sends and must give back."""
