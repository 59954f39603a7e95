"""What is the paper's alone: what our agent is compared with."""
