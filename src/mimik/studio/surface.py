"""The mannequin's surface: a smooth union of parts as a distance field, polygonised by surface nets."""

import numba as nb
import numpy as np

from mimik._types import Array, IntArray
from mimik.studio.parts import PartTable

BLOCK = 6
"""Grid cells along the edge of a block that is skipped when the surface cannot pass through it."""


def polygonise(parts: PartTable, cell: float) -> tuple[Array, IntArray]:
    """Return vertices (V, 3) and triangles (F, 3), outward counter-clockwise, of the parts' closed common surface.

    `cell` is the edge of the grid in metres. Vertices are moved onto the surface after polygonising.
    """
    low, high = parts.bounds()
    size = np.ceil((high - low) / cell / BLOCK).astype(np.int64) * BLOCK + BLOCK
    low = 0.5 * (low + high) - 0.5 * size * cell
    field = np.full(tuple(size + 1), np.float32(1e3))
    _fill(parts.origin, parts.frame, parts.shape, parts.profile, parts.reach, low, cell, field)
    vertices, quads = _nets(field, low, cell)
    _project(parts.origin, parts.frame, parts.shape, parts.profile, parts.reach, vertices, cell)
    return vertices, _split(vertices, quads)


def nearest_part(parts: PartTable, points: Array) -> tuple[IntArray, Array, Array]:
    """Return for points (N, 3) the nearest part (N,), the place along its axis (N,) and the distance to it (N,)."""
    part, along, distance = np.empty(len(points), dtype=np.int64), np.empty(len(points)), np.empty(len(points))
    _nearest(parts.origin, parts.frame, parts.shape, parts.profile, np.ascontiguousarray(points), part, along, distance)
    return part, along, distance


def openness(parts: PartTable, points: Array, normals: Array, reach: float) -> Array:
    """Return (N,) how open the surface is, 0 in a crease to 1 in the open, from the field within `reach` metres."""
    out = np.empty(len(points))
    _openness(parts.origin, parts.frame, parts.shape, parts.profile, parts.reach, points, normals, reach, out)
    return out


@nb.njit(cache=True, error_model="numpy", nogil=True)  # type: ignore[misc]
def _part(
    origin: Array, frame: Array, shape: Array, profile: Array, x: float, y: float, z: float
) -> tuple[float, float]:
    """Return the approximate signed distance to one part, and the place along its axis (0 to 1 inside its length)."""
    x -= origin[0]
    y -= origin[1]
    z -= origin[2]
    u = x * frame[0, 0] + y * frame[0, 1] + z * frame[0, 2]
    v = x * frame[1, 0] + y * frame[1, 1] + z * frame[1, 2]
    w = x * frame[2, 0] + y * frame[2, 1] + z * frame[2, 2]
    length = shape[0]
    t = w / length
    if w < 0.0:
        over, cap, s = w, shape[1], 0.0
    elif w > length:
        over, cap, s = w - length, shape[2], 1.0
    else:
        over, cap, s = 0.0, 1.0, t
    place = s * (profile.shape[0] - 1)
    i = min(int(place), profile.shape[0] - 2)
    f = place - i
    ru = profile[i, 0] + f * (profile[i + 1, 0] - profile[i, 0])
    rv = profile[i, 1] + f * (profile[i + 1, 1] - profile[i, 1])
    a = (u - profile[i, 2] - f * (profile[i + 1, 2] - profile[i, 2])) / ru
    b = (v - profile[i, 3] - f * (profile[i + 1, 3] - profile[i, 3])) / rv
    c = over / cap
    k0 = np.sqrt(a * a + b * b + c * c)
    a /= ru
    b /= rv
    c /= cap
    k1 = np.sqrt(a * a + b * b + c * c)
    d = k0 * (k0 - 1.0) / k1 if k1 > 1e-9 else -min(ru, rv)
    return max(d, -shape[4] - v), t


@nb.njit(cache=True, error_model="numpy", nogil=True)  # type: ignore[misc]
def _union(
    origin: Array, frame: Array, shape: Array, profile: Array, some: IntArray, x: float, y: float, z: float
) -> float:
    """Return the signed distance to the smooth union of the parts listed in `some`, melted in that order."""
    total = 1e3
    for p in some:
        d, _ = _part(origin[p], frame[p], shape[p], profile[p], x, y, z)
        k = shape[p, 3]
        h = max(k - abs(total - d), 0.0) / k
        total = min(total, d) - 0.25 * h * h * k
    return total


@nb.njit(cache=True, error_model="numpy", nogil=True)  # type: ignore[misc]
def _near(
    origin: Array, frame: Array, shape: Array, reach: Array, x: float, y: float, z: float, slack: float, some: IntArray
) -> int:
    """List in `some` the parts whose surface may pass within `slack` of a point; return how many."""
    count = 0
    for p in range(len(origin)):
        half = 0.5 * shape[p, 0]
        dx = x - origin[p, 0] - half * frame[p, 2, 0]
        dy = y - origin[p, 1] - half * frame[p, 2, 1]
        dz = z - origin[p, 2] - half * frame[p, 2, 2]
        if dx * dx + dy * dy + dz * dz < (reach[p] + slack) ** 2:
            some[count] = p
            count += 1
    return count


@nb.njit(cache=True, error_model="numpy", nogil=True)  # type: ignore[misc]
def _fill(
    origin: Array, frame: Array, shape: Array, profile: Array, reach: Array, low: Array, cell: float, field: Array
) -> None:
    """Write the distance on the grid's nodes, in the blocks the surface may cross; elsewhere only its sign."""
    nx, ny, nz = field.shape
    radius = 0.5 * BLOCK * cell * 1.7321
    some = np.arange(len(origin))
    for bx in range(0, nx, BLOCK):
        for by in range(0, ny, BLOCK):
            for bz in range(0, nz, BLOCK):
                half = 0.5 * (BLOCK - 1) * cell
                x, y, z = low[0] + bx * cell + half, low[1] + by * cell + half, low[2] + bz * cell + half
                count = _near(origin, frame, shape, reach, x, y, z, radius + 2 * cell, some)
                if count == 0:
                    continue
                middle = _union(origin, frame, shape, profile, some[:count], x, y, z)
                far = abs(middle) > 2.0 * radius + 2 * cell
                for i in range(bx, min(bx + BLOCK, nx)):
                    for j in range(by, min(by + BLOCK, ny)):
                        for k in range(bz, min(bz + BLOCK, nz)):
                            if far:
                                field[i, j, k] = middle
                            else:
                                field[i, j, k] = _union(
                                    origin, frame, shape, profile, some[:count],
                                    low[0] + i * cell, low[1] + j * cell, low[2] + k * cell,
                                )  # fmt: skip


@nb.njit(cache=True, error_model="numpy", nogil=True)  # type: ignore[misc]
def _nets(field: Array, low: Array, cell: float) -> tuple[Array, IntArray]:
    """Place a vertex in every cell the surface crosses and a quad round every grid edge it crosses."""
    nx, ny, nz = field.shape
    index = np.full((nx, ny, nz), -1, dtype=np.int32)
    count = 0
    for i in range(nx - 1):
        for j in range(ny - 1):
            for k in range(nz - 1):
                inside = 0
                for c in range(8):
                    inside += field[i + (c & 1), j + ((c >> 1) & 1), k + (c >> 2)] < 0.0
                if 0 < inside < 8:
                    index[i, j, k] = count
                    count += 1
    vertices = np.empty((count, 3))
    quads = np.empty((3 * count + 3, 4), dtype=np.int64)
    faces = 0
    step = np.eye(3, dtype=np.int64)
    for i in range(nx - 1):
        for j in range(ny - 1):
            for k in range(nz - 1):
                v = index[i, j, k]
                if v < 0:
                    continue
                crossings, px, py, pz = 0, 0.0, 0.0, 0.0
                for c in range(8):
                    a = field[i + (c & 1), j + ((c >> 1) & 1), k + (c >> 2)]
                    for axis in range(3):
                        if c >> axis & 1:
                            continue
                        e = c | 1 << axis
                        b = field[i + (e & 1), j + ((e >> 1) & 1), k + (e >> 2)]
                        if (a < 0.0) == (b < 0.0):
                            continue
                        f = a / (a - b)
                        crossings += 1
                        px += (c & 1) + f * step[axis, 0]
                        py += ((c >> 1) & 1) + f * step[axis, 1]
                        pz += (c >> 2) + f * step[axis, 2]
                vertices[v, 0] = low[0] + cell * (i + px / crossings)
                vertices[v, 1] = low[1] + cell * (j + py / crossings)
                vertices[v, 2] = low[2] + cell * (k + pz / crossings)
                for axis in range(3):
                    b1, b2 = (axis + 1) % 3, (axis + 2) % 3
                    a = field[i, j, k]
                    b = field[i + step[axis, 0], j + step[axis, 1], k + step[axis, 2]]
                    if (a < 0.0) == (b < 0.0):
                        continue
                    s, r = step[b1], step[b2]
                    if i - s[0] - r[0] < 0 or j - s[1] - r[1] < 0 or k - s[2] - r[2] < 0:
                        continue
                    v1 = index[i - s[0], j - s[1], k - s[2]]
                    v2 = index[i - s[0] - r[0], j - s[1] - r[1], k - s[2] - r[2]]
                    v3 = index[i - r[0], j - r[1], k - r[2]]
                    quads[faces, 0], quads[faces, 2] = v, v2
                    if a < 0.0:
                        quads[faces, 1], quads[faces, 3] = v1, v3
                    else:
                        quads[faces, 1], quads[faces, 3] = v3, v1
                    faces += 1
    return vertices, quads[:faces].copy()


@nb.njit(cache=True, error_model="numpy", nogil=True)  # type: ignore[misc]
def _project(
    origin: Array, frame: Array, shape: Array, profile: Array, reach: Array, vertices: Array, cell: float
) -> None:
    """Move vertices along the field's gradient onto the surface, at most half a cell."""
    some = np.arange(len(origin))
    h = 0.2 * cell
    gradient = np.empty(3)
    for n in range(len(vertices)):
        p = vertices[n]
        near = some[: _near(origin, frame, shape, reach, p[0], p[1], p[2], 2 * cell, some)]
        for _ in range(2):
            d = _union(origin, frame, shape, profile, near, p[0], p[1], p[2])
            length = 0.0
            for k in range(3):
                p[k] += h
                gradient[k] = (_union(origin, frame, shape, profile, near, p[0], p[1], p[2]) - d) / h
                p[k] -= h
                length += gradient[k] ** 2
            if length > 1e-6:
                move = -d / length
                move = max(-0.4 * cell, min(0.4 * cell, move))
                for k in range(3):
                    p[k] += move * gradient[k]


@nb.njit(cache=True, error_model="numpy", nogil=True)  # type: ignore[misc]
def _nearest(
    origin: Array,
    frame: Array,
    shape: Array,
    profile: Array,
    points: Array,
    part: IntArray,
    along: Array,
    distance: Array,
) -> None:
    for n in range(len(points)):
        distance[n], part[n], along[n] = np.inf, 0, 0.0
        for p in range(len(origin)):
            d, t = _part(origin[p], frame[p], shape[p], profile[p], points[n, 0], points[n, 1], points[n, 2])
            if d < distance[n]:
                distance[n], part[n], along[n] = d, p, t


@nb.njit(cache=True, error_model="numpy", nogil=True)  # type: ignore[misc]
def _openness(
    origin: Array, frame: Array, shape: Array, profile: Array, around: Array, points: Array, normals: Array,
    reach: float, out: Array,
) -> None:  # fmt: skip
    some = np.arange(len(origin))
    for n in range(len(points)):
        p = points[n]
        near = some[: _near(origin, frame, shape, around, p[0], p[1], p[2], 2 * reach, some)]
        closed, weight = 0.0, 1.0
        for step in range(1, 5):
            h = reach * step / 4
            x, y, z = (
                points[n, 0] + h * normals[n, 0],
                points[n, 1] + h * normals[n, 1],
                points[n, 2] + h * normals[n, 2],
            )
            closed += weight * max(0.0, h - _union(origin, frame, shape, profile, near, x, y, z)) / h
            weight *= 0.7
        out[n] = max(0.0, 1.0 - closed / 2.533)


def _split(vertices: Array, quads: IntArray) -> IntArray:
    """Cut quads into triangles along the shorter diagonal."""
    a, b, c, d = (vertices[quads[:, k]] for k in range(4))
    short = ((a - c) ** 2).sum(axis=1) <= ((b - d) ** 2).sum(axis=1)
    first = np.where(short[:, None], quads[:, [0, 1, 2]], quads[:, [0, 1, 3]])
    second = np.where(short[:, None], quads[:, [0, 2, 3]], quads[:, [1, 2, 3]])
    return np.concatenate([first, second])
