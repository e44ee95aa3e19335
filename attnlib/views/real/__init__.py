"""A published encoder's heads on a sentence: the map, the sheet of all, one score, one weight."""
