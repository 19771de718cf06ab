"""The figure as URDF and MJCF, for the robotics peers: one body a hinge, a free root, the same limits."""

import numpy as np
from benchmarks.projected.data import Figure

from mimik._types import Array
from mimik.rig.rig import Rig

AXIS = {"X": (1, 0, 0), "Y": (0, 1, 0), "Z": (0, 0, 1)}
SLACK = 1e-6
"""Radians added where a hinge has no room at all: some peers refuse equal limits."""


def hinge_names(rig: Rig) -> list[str]:
    """Names of the 66 hinges, in order."""
    return [f"{name}_{k}" for name in rig.names[1:] for k in range(3)]


def limits(figure: Figure) -> tuple[Array, Array]:
    """Lower and upper angles (66,)."""
    return figure.low.ravel() - SLACK, figure.high.ravel() + SLACK


def _xyz(v: Array | tuple[float, ...]) -> str:
    return " ".join(f"{float(x):.12g}" for x in v)


def urdf(rig: Rig, figure: Figure) -> str:
    """URDF text; links are called after joints ("Hips", "LeftUpLeg_2" ends a triple)."""
    low, high = limits(figure)
    inertia = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    lines = ['<robot name="figure">', f'<link name="{rig.names[0]}">{inertia}</link>']
    for j in range(1, rig.joint_count):
        parent = int(rig.parents[j])
        above = rig.names[0] if parent == 0 else f"{rig.names[parent]}_2"
        for k, letter in enumerate(figure.orders[j - 1]):
            name, at = f"{rig.names[j]}_{k}", rig.offsets[j] if k == 0 else np.zeros(3)
            n = 3 * (j - 1) + k
            lines.append(f'<link name="{name}">{inertia}</link>')
            lines.append(
                f'<joint name="{name}_hinge" type="revolute"><parent link="{above}"/><child link="{name}"/>'
                f'<origin xyz="{_xyz(at)}"/><axis xyz="{_xyz(AXIS[letter])}"/>'
                f'<limit lower="{low[n]:.12g}" upper="{high[n]:.12g}" effort="1000" velocity="1000"/></joint>'
            )
            above = name
    return "\n".join([*lines, "</robot>"])


def mjcf(rig: Rig, figure: Figure) -> str:
    """MuJoCo text; one body a joint with three hinges."""
    low, high = limits(figure)

    def body(j: int) -> str:
        joints = (
            "<freejoint/>"
            if j == 0
            else "".join(
                f'<joint name="{rig.names[j]}_{k}" type="hinge" axis="{_xyz(AXIS[letter])}" limited="true" '
                f'range="{low[3 * j - 3 + k]:.12g} {high[3 * j - 3 + k]:.12g}"/>'
                for k, letter in enumerate(figure.orders[j - 1])
            )
        )
        inside = "".join(body(c) for c in rig.skeleton.children(j))
        at = np.zeros(3) if j == 0 else rig.offsets[j]
        return (
            f'<body name="{rig.names[j]}" pos="{_xyz(at)}"><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
            f"{joints}{inside}</body>"
        )

    return f'<mujoco><compiler angle="radian"/><option gravity="0 0 0"/><worldbody>{body(0)}</worldbody></mujoco>'
