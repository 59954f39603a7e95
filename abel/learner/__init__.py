"""What the loop of train_ppo.py stands on: batches, rollouts, stored steps, counts, records."""
