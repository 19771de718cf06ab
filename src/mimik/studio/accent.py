"""Where the mannequin wears its accent colour: rings at the joints, and the plate that shows where the face looks."""

import numpy as np

from mimik._types import Array, IntArray
from mimik.studio.body import Body
from mimik.studio.parts import PartTable

EDGE = 0.010
"""Distance in metres over which the accent value falls from 1 inside to -1 outside; drawing cuts it at 0."""
FACE = ((0.0, -0.006), (0.056, 0.024))
"""Middle and half axes (across, up) of the face plate about the middle of the skull, for a figure of 1.75 m."""


def accent(body: Body, parts: PartTable, vertices: Array, part: IntArray, t: Array) -> Array:
    """Return (V,) from -1 outside to 1 inside the accent colour; 0 is its edge."""
    inside = np.full(len(vertices), -np.inf)
    for n, bands in enumerate(parts.bands):
        mine = part == n
        for place, half in bands:
            away = np.abs(t[mine] - place) * parts.shape[n, 0]
            inside[mine] = np.maximum(inside[mine], half - away)
    if body.face is not None:
        inside = np.maximum(inside, _face(body, vertices))
    return np.clip(inside / (EDGE * body.scale), -1.0, 1.0)


def _face(body: Body, vertices: Array) -> Array:
    """Return about the distance (V,) in metres inside the edge of the face plate."""
    assert body.face is not None
    centre, k = body.face
    (x, y), (across, up) = FACE
    local = (vertices - centre) / k
    u, v = (local[:, 0] - x) / across, (local[:, 1] - y) / up
    radius = (np.abs(u) ** 3 + np.abs(v) ** 3) ** (1 / 3)
    inside = (1.0 - radius) * up * k
    front = local[:, 2] > 0.03
    return np.where(front & (np.linalg.norm(local, axis=1) < 0.2), inside, -np.inf)
