"""open_wild: open equations of many families, for agents that choose their own substitutions."""
