"""F-CNN: a card runs one module per layer and direction, loaded one after the other."""
