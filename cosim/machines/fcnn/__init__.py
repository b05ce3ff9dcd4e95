"""The hardware of F-CNN: its modules as phases, and training steps on them."""
