"""The questions asked before looking, a module for each theme; `predictions` judges the answers."""
