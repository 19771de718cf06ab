"""The readable twins of the kernels: kinematics and goal residuals as their formulas read.

Written on plain lists of numbers and the functions of an array module `xp`, NumPy or PyTorch, so that the tests can
differentiate them automatically.
"""

from typing import Any

import numpy as np

from mimik.solve.projected.arrays import (
    ABOVE,
    AXES,
    DIRECTION,
    DISTANCE,
    FREE,
    GOAL_ROWS,
    LOOK_AT,
    MASS_CENTRE,
    ORIENTATION,
    POLE,
    POSITION,
    GoalArrays,
    ModelArrays,
)

Vector = list[Any]


def add(a: Vector, b: Vector) -> Vector:
    """Sum."""
    return [x + y for x, y in zip(a, b, strict=True)]


def sub(a: Vector, b: Vector) -> Vector:
    """Difference."""
    return [x - y for x, y in zip(a, b, strict=True)]


def times(k: Any, a: Vector) -> Vector:
    """Multiple."""
    return [k * x for x in a]


def dot(a: Vector, b: Vector) -> Any:
    """Inner product."""
    return sum(x * y for x, y in zip(a, b, strict=True))


def cross(a: Vector, b: Vector) -> Vector:
    """Cross product."""
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def mul(a: Vector, b: Vector) -> Vector:
    """Quaternion product, x y z w."""
    vector = add(add(times(a[3], b[:3]), times(b[3], a[:3])), cross(a[:3], b[:3]))
    return [*vector, a[3] * b[3] - dot(a[:3], b[:3])]


def turn(q: Vector, v: Vector) -> Vector:
    """A vector turned by a quaternion."""
    t = times(2.0, cross(q[:3], v))
    return add(add(v, times(q[3], t)), cross(q[:3], t))


def length(a: Vector, xp: Any) -> Any:
    """Euclidean length."""
    return xp.sqrt(dot(a, a))


def exp(v: Vector, xp: Any) -> Vector:
    """Quaternion of a rotation vector; at zero by its series, which is smooth there."""
    square = dot(v, v)
    if not square > 1e-16:
        return [*times(0.5 - square / 48.0, v), 1.0 - square / 8.0]
    angle = xp.sqrt(square)
    return [*times(xp.sin(0.5 * angle) / angle, v), xp.cos(0.5 * angle)]


def place(m: ModelArrays, theta: Any, base: Any, xp: Any = np) -> tuple[list[Vector], list[Vector]]:
    """World rotations and places of the joints (appendix A): rest, then the joint's values in turn."""
    rotations: list[Vector] = []
    places: list[Vector] = []
    for j, parent in enumerate(m.parents):
        q, at = ([0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0]) if parent < 0 else (rotations[parent], places[parent])
        v, last = int(m.first[j]), int(m.first[j] + m.value_count[j])
        moved = list(m.offsets[j])
        while v < last and m.slides[v]:
            moved = add(moved, times(theta[v], list(m.axes[v])))
            v += 1
        places.append(add(at, turn(q, moved)))
        q = mul(q, list(m.rest[j]))
        if m.kind[j] == AXES:
            for k in range(v, last):
                q = mul(q, exp(times(theta[k], list(m.axes[k])), xp))
        else:
            if m.kind[j] == FREE:
                q = mul(q, list(base[j]))
            together = 3 if m.kind[j] == FREE else 2
            swing = [0.0, 0.0, 0.0]
            for k in range(v, v + together):
                swing = add(swing, times(theta[k], list(m.axes[k])))
            q = mul(q, exp(swing, xp))
            if together == 2:
                q = mul(q, exp(times(theta[v + 2], list(m.axes[v + 2])), xp))
        rotations.append(q)
    return rotations, places


def residuals(m: ModelArrays, g: GoalArrays, theta: Any, base: Any, xp: Any = np) -> list[Vector]:
    """Residual of every goal, as many numbers as its kind has rows."""
    rotations, places = place(m, theta, base, xp)
    return [_residual(m, g, i, rotations, places, xp) for i in range(len(g.kind))]


def objective(m: ModelArrays, g: GoalArrays, theta: Any, base: Any, xp: Any = np) -> Any:
    """f = 1/2 sum r'W r (17), with the preference to stay near given values."""
    total = 0.0
    for i, r in enumerate(residuals(m, g, theta, base, xp)):
        weighted = [dot(list(row[: len(r)]), r) for row in g.weight[i][: len(r)]]
        total = total + 0.5 * dot(weighted, weighted)
    for v in range(len(g.near)):
        total = total + 0.5 * g.near_weight[v] * (theta[v] - g.near[v]) ** 2
    return total


def _residual(m: ModelArrays, g: GoalArrays, i: int, rotations: list[Vector], places: list[Vector], xp: Any) -> Vector:
    kind, target = int(g.kind[i]), list(g.target[i])
    joints = [int(j) for j in g.joints[i] if j >= 0]
    points = [add(places[j], turn(rotations[j], list(g.points[i, k]))) for k, j in enumerate(joints)]
    if kind == POSITION:
        return sub(points[0], target[:3])
    if kind == ORIENTATION:
        return _log(mul(rotations[joints[0]], [-target[0], -target[1], -target[2], target[3]]), xp)
    if kind == DIRECTION:
        return sub(turn(rotations[joints[0]], list(g.vector[i])), target[:3])
    if kind == LOOK_AT:
        way = sub(target[:3], points[0])
        return sub(turn(rotations[joints[0]], list(g.vector[i])), times(1.0 / length(way, xp), way))
    if kind == POLE:
        return _pole(points, target[:3], xp)
    if kind == DISTANCE:
        return [length(sub(points[0], points[1]), xp) - target[0]]
    if kind == ABOVE:
        under = points[0][1] - target[0]
        return [under if float(under) < 0.0 else 0.0 * under]
    assert kind == MASS_CENTRE and GOAL_ROWS[kind] == 2, "a goal kind without a twin"
    centre = [0.0, 0.0, 0.0]
    for j in range(len(places)):
        here = add(places[j], turn(rotations[j], list(m.mass_point[j])))
        centre = add(centre, times(m.mass[j], here))
    return _outside(centre[0], centre[2], g.support)


def _log(q: Vector, xp: Any) -> Vector:
    """Rotation vector of a quaternion, at most pi long."""
    if float(q[3]) < 0.0:
        q = times(-1.0, q)
    sine = length(q[:3], xp)
    if float(sine) < 1e-9:
        return times(2.0, q[:3])
    return times(2.0 * xp.arctan2(sine, q[3]) / sine, q[:3])


def _pole(points: list[Vector], pole: Vector, xp: Any) -> Vector:
    """v - |v| h: v from the line a c to the middle joint b, h the direction from that line to the pole."""
    a, b, c = points
    along = sub(c, a)
    n = times(1.0 / length(along, xp), along)
    v, h = (sub(sub(x, a), times(dot(n, sub(x, a)), n)) for x in (b, pole))
    return sub(v, times(length(v, xp) / length(h, xp), h))


def _outside(x: Any, z: Any, corners: Any) -> Vector:
    """Vector from the nearest point of a convex polygon (counter-clockwise in x, z) to a point; zero inside."""
    best: Vector = []
    inside = len(corners) > 2
    for i in range(len(corners)):
        a, b = corners[i], corners[(i + 1) % len(corners)]
        edge = b - a
        square = float(edge @ edge)
        t = ((x - a[0]) * edge[0] + (z - a[1]) * edge[1]) / square if square > 0.0 else 0.0
        t = t if 0.0 < float(t) < 1.0 else min(1.0, max(0.0, float(t)))
        gap = [x - a[0] - t * edge[0], z - a[1] - t * edge[1]]
        inside = inside and float(edge[0] * (z - a[1]) - edge[1] * (x - a[0])) >= 0.0
        if not best or float(dot(gap, gap)) < float(dot(best, best)):
            best = gap
    return times(0.0, best) if inside else best
