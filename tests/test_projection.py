"""Principal components and t-SNE by their defining properties."""

import numpy as np
import pytest

from abel.analysis.projection import affinities, pca, tsne


def test_points_on_a_line_have_one_component():
    along = np.array([[-2.0], [-1.0], [0.0], [3.0]])
    flat, shares = pca(along * np.array([3.0, 4.0]) / 5 + 7)
    assert flat[:, 0] == pytest.approx(along[:, 0])
    assert flat[:, 1] == pytest.approx(np.zeros(4), abs=1e-12)
    assert shares == pytest.approx([1.0, 0.0], abs=1e-12)


def test_one_dimension_is_padded_to_two():
    flat, shares = pca(np.array([[1.0], [3.0]]))
    assert flat.shape == (2, 2) and shares.tolist() == [1.0, 0.0]


def test_affinities_have_the_perplexity_asked_for():
    points = np.random.default_rng(0).normal(size=(40, 5))
    joint = affinities(points, 10.0)
    assert joint.sum() == pytest.approx(1.0) and np.allclose(joint, joint.T)
    assert np.all(np.diag(joint) == 0)
    line = np.array([0.0, 1.0, 3.0, 7.0])
    given = np.zeros((4, 4))  # p(j | i) by a plain bisection over the precision
    for i in range(4):
        squares = np.delete((line - line[i]) ** 2, i)
        low, high = 0.0, 100.0
        for _ in range(200):
            weights = np.exp(-(low + high) / 2 * (squares - squares.min()))
            p = weights / weights.sum()
            entropy = -(p * np.log(np.maximum(p, 1e-300))).sum()
            low, high = (
                ((low + high) / 2, high) if np.exp(entropy) > 2.0 else (low, (low + high) / 2)
            )
        given[i, np.arange(4) != i] = p
    assert affinities(line[:, None], 2.0) == pytest.approx((given + given.T) / 8, abs=1e-4)


def test_clusters_stay_together():
    rng = np.random.default_rng(0)
    points = np.concatenate([rng.normal(size=(12, 8)) + 20 * rng.normal(size=8) for _ in range(3)])
    flat = tsne(points, perplexity=5.0, num_steps=200)
    distance = ((flat[:, None] - flat[None]) ** 2).sum(-1)
    np.fill_diagonal(distance, np.inf)
    assert (distance.argmin(1) // 12 == np.arange(36) // 12).all()
    assert np.array_equal(flat, tsne(points, perplexity=5.0, num_steps=200))


@pytest.mark.parametrize("points", [np.zeros((6, 3)), np.ones((2, 3)), np.ones((1, 3))])
def test_points_that_coincide_give_numbers(points):
    assert np.isfinite(tsne(points, num_steps=20)).all()
