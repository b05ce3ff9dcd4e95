"""Training, evaluation and prediction of networks on images."""
