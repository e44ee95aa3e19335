"""Hand-ins, of one learner or of a class: opened, checked each in its own process, and told."""
