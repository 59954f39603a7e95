"""A standing attack on the solving criterion: cases whose truth is known."""
