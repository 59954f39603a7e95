"""What the loop of train_ppo.py stands on: batches, stored solutions, the curriculum, records."""
