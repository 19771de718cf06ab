"""Transforms of the joints of a glTF file without scales, at rest or sampled over time."""

import numpy as np

from mimik._types import Array
from mimik.io._gltf_animation import Motion
from mimik.io._gltf_document import Document
from mimik.io._gltf_joints import JointSet
from mimik.io._gltf_nodes import NodeTree, skewed
from mimik.rotation import identity_quat, matrix_to_quat, quat_apply, quat_inv, quat_mul, quat_to_matrix

_FARTHEST = 1e7


def bake(doc: Document, tree: NodeTree, joints: JointSet, motion: Motion | None = None) -> tuple[Array, Array]:
    """Return local rotations (T, J, 4) and translations (T, J, 3) without scales; T is 1 without motion.

    Translations are in metres relative to the parent joint; those of the root are its world position. World positions
    are exact for any scales; rotations are exact for uniform ones and the nearest rotation for others.
    """
    frames = 1 if motion is None else motion.frame_count
    doc.spend(frames * len(joints.nodes) * 8 * 24)
    chain = [*joints.above, *map(int, joints.nodes)]
    uneven = any(skewed(_values(tree.scale, motion.scale if motion else {}, node)) for node in chain)
    uneven = uneven or bool(set(tree.sheared) & set(chain))
    with np.errstate(all="ignore"):
        rotations, translations = (_bake_matrices if uneven else _bake_uniform)(tree, joints, motion, frames)
    if not (np.isfinite(rotations).all() and np.abs(translations).max() < _FARTHEST):  # NaN is not below it either
        raise doc.fail(f"its joints lie more than {_FARTHEST:g} m apart")
    return rotations, translations


def is_skewed(tree: NodeTree, joints: JointSet) -> bool:
    """Say whether some node at rest has a scale that differs by axis, or a shear."""
    chain = [*joints.above, *map(int, joints.nodes)]
    return any(skewed(tree.scale[node][None]) for node in chain) or bool(set(tree.sheared) & set(chain))


def _values(rest: Array, keyed: dict[int, Array], node: int) -> Array:
    """Return (T or 1, W) values of a node: sampled where it has keys, its rest otherwise."""
    return keyed[node] if node in keyed else rest[node][None]


def _bake_uniform(tree: NodeTree, joints: JointSet, motion: Motion | None, frames: int) -> tuple[Array, Array]:
    keyed = (motion.translation, motion.rotation, motion.scale) if motion else ({}, {}, {})
    place, turn, size = np.zeros((1, 3)), joints.turn[None], np.ones((1, 1))
    for node in joints.above:
        place = place + quat_apply(turn, size * _values(tree.translation, keyed[0], node))
        turn = quat_mul(turn, _values(tree.rotation, keyed[1], node))
        size = size * _values(tree.scale, keyed[2], node).mean(axis=1, keepdims=True)
    rotations, translations = np.empty((frames, len(joints.nodes), 4)), np.empty((frames, len(joints.nodes), 3))
    sizes: list[Array] = []
    for j, node in enumerate(map(int, joints.nodes)):
        before = sizes[joints.parents[j]] if j else size
        rotations[:, j] = _values(tree.rotation, keyed[1], node)
        translations[:, j] = before * _values(tree.translation, keyed[0], node)
        sizes.append(before * _values(tree.scale, keyed[2], node).mean(axis=1, keepdims=True))
    translations[:, 0] = place + quat_apply(turn, translations[:, 0])
    rotations[:, 0] = quat_mul(turn, rotations[:, 0])
    return rotations, translations


def _bake_matrices(tree: NodeTree, joints: JointSet, motion: Motion | None, frames: int) -> tuple[Array, Array]:
    """Follow the full matrices, then take the nearest rotations and the places they need."""
    keyed = (motion.translation, motion.rotation, motion.scale) if motion else ({}, {}, {})
    linear, place = quat_to_matrix(joints.turn)[None], np.zeros((1, 3))
    for node in joints.above:
        linear, place = _step(tree, keyed, node, linear, place)
    count = len(joints.nodes)
    linears: list[Array] = []
    places: list[Array] = []
    q_world, rotations = identity_quat(frames, count), identity_quat(frames, count)
    translations = np.zeros((frames, count, 3))
    for j, node in enumerate(map(int, joints.nodes)):
        parent = int(joints.parents[j])
        step = _step(tree, keyed, node, linears[parent] if j else linear, places[parent] if j else place)
        linears.append(step[0])
        places.append(step[1])
        q_world[:, j] = matrix_to_quat(nearest_rotations(step[0]))
        if j == 0:
            rotations[:, 0], translations[:, 0] = q_world[:, 0], step[1]
        else:
            back = quat_inv(q_world[:, parent])
            rotations[:, j] = quat_mul(back, q_world[:, j])
            translations[:, j] = quat_apply(back, step[1] - places[parent])
    return rotations, translations


def _step(
    tree: NodeTree, keyed: tuple[dict[int, Array], ...], node: int, linear: Array, place: Array
) -> tuple[Array, Array]:
    """Go from a parent's world matrix and place to those of `node`."""
    place = place + (linear @ _values(tree.translation, keyed[0], node)[..., None])[..., 0]
    own = quat_to_matrix(_values(tree.rotation, keyed[1], node)) * _values(tree.scale, keyed[2], node)[:, None, :]
    return linear @ own, place


def nearest_rotations(linear: Array) -> Array:
    """Return the rotation matrices nearest to matrices (T, 3, 3); mirrored ones are turned inside out."""
    u, _, vt = np.linalg.svd(np.nan_to_num(linear))
    turn = u @ vt
    return np.where(np.linalg.det(turn)[:, None, None] < 0.0, -turn, turn)
