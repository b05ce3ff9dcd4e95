"""Parameters and registers of Mazouz and Bridges' elements."""
