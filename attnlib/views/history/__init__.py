"""On the way to self-attention: three alignments side by side, and what one context keeps."""
