"""F-CNN: streaming modules, loaded one after the other, with weights on the host."""
