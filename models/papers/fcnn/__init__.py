"""F-CNN: a module for each layer and direction, loaded one after the other into a card."""
