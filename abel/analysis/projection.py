"""Vectors in two dimensions: principal components and exact t-SNE, in numpy."""

from __future__ import annotations

import numpy as np


def pca(points: np.ndarray, dims: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates [N, dims] along the principal components, and their shares of the variance."""
    centred = points - points.mean(0)
    _, scale, axes = np.linalg.svd(centred, full_matrices=False)
    # An axis has no sign of its own: its largest entry is made positive.
    axes = axes * np.sign(axes[np.arange(len(axes)), np.abs(axes).argmax(1)])[:, None]
    shares = scale**2 / max(float((scale**2).sum()), 1e-12)
    coordinates = centred @ axes[:dims].T
    missing = dims - coordinates.shape[1]
    return np.pad(coordinates, ((0, 0), (0, missing))), np.pad(shares[:dims], (0, missing))


def affinities(points: np.ndarray, perplexity: float) -> np.ndarray:
    """Symmetric neighbour probabilities [N, N]; each row's entropy is log(perplexity)."""
    square = (points**2).sum(1)
    distance = np.maximum(square[:, None] + square[None, :] - 2 * points @ points.T, 0.0)
    np.fill_diagonal(distance, np.inf)
    distance = distance - distance.min(1, keepdims=True)  # the nearest neighbour never underflows
    low, high = np.zeros(len(points)), np.full(len(points), np.inf)
    beta = 1.0 / np.maximum(np.where(np.isinf(distance), 0.0, distance).mean(1), 1e-12)
    for _ in range(60):  # bisection for the precision of each point's Gaussian
        weights = np.exp(-beta[:, None] * distance)
        rows = weights / weights.sum(1, keepdims=True)
        entropy = -(rows * np.log(np.maximum(rows, 1e-300))).sum(1)
        wide = entropy > np.log(perplexity)
        low, high = np.where(wide, beta, low), np.where(wide, high, beta)
        beta = np.where(np.isinf(high), 2 * beta, (low + high) / 2)
    return (rows + rows.T) / (2 * len(points))


def tsne(
    points: np.ndarray, perplexity: float = 30.0, num_steps: int = 500, seed: int = 0
) -> np.ndarray:
    """Coordinates [N, 2] by exact t-SNE (van der Maaten and Hinton, 2008): O(N^2) a step."""
    points, count = points.astype(np.float64), len(points)
    if count < 4:
        return pca(points)[0]
    target = affinities(points, min(perplexity, (count - 1) / 3))
    start = pca(points)[0]
    noise = np.random.default_rng(seed).normal(size=start.shape)
    y = 1e-4 * (start / max(float(start.std()), 1e-12) + 0.01 * noise)
    velocity, gains = np.zeros_like(y), np.ones_like(y)
    rate = max(count / 12, 10.0)
    for step in range(num_steps):
        early = step < num_steps // 4
        square = (y**2).sum(1)
        kernel = 1 / (1 + square[:, None] + square[None, :] - 2 * y @ y.T)
        np.fill_diagonal(kernel, 0.0)
        pull = ((12.0 if early else 1.0) * target - kernel / kernel.sum()) * kernel
        gradient = 4 * (pull.sum(1)[:, None] * y - pull @ y)
        same = np.sign(gradient) == np.sign(velocity)
        gains = np.maximum(np.where(same, gains * 0.8, gains + 0.2), 0.01)
        velocity = (0.5 if early else 0.8) * velocity - rate * gains * gradient
        y = y + velocity
        y = y - y.mean(0)
    return y
