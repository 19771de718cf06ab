"""Blender's two solvers through `bpy`: IK constraints (standard) and iTaSC.

One bone a hinge, for only so are limits a box; bones of zero length do not exist, so every hinge bone is a centimetre
long and starts where its joint is. Blender's limits contain the rest pose: a hinge whose limits do not contain zero
rests on the nearer one. Blender's solvers cannot move the root: the armature is put where the pelvis' goal is, and a
first bone turns freely. They start from the pose channels, so what they found is written back for the next frame, which
is not timed.
"""

import time
from typing import Any

import numpy as np
from benchmarks.projected.data import EFFECTORS, Figure
from benchmarks.projected.methods import Method, Stand
from benchmarks.projected.robots import AXIS, hinge_names, limits

from mimik._types import Array
from mimik.rig.rig import Rig
from mimik.rotation import matrix_to_quat, quat_to_matrix, rotvec_to_quat

ITERATIONS, LENGTH = 500, 0.01


class Blender(Method):
    """The standard solver at its default of 500 iterations."""

    name, solver = "Blender, standard", "LEGACY"
    clock = staticmethod(time.process_time_ns)  # Blender evaluates on threads of its own

    def __init__(self, rig: Rig, figure: Figure) -> None:
        super().__init__(rig, figure)
        import bpy
        import mathutils

        self.low, self.high = limits(figure)
        self.rest = np.clip(0.0, self.low, self.high)
        bpy.ops.wm.read_factory_settings(use_empty=True)
        self.bpy, self.mathutils = bpy, mathutils
        self.object = bpy.data.objects.new("figure", bpy.data.armatures.new("figure"))
        bpy.context.collection.objects.link(self.object)
        bpy.context.view_layer.objects.active = self.object
        bpy.ops.object.mode_set(mode="EDIT")
        self._make_bones(rig)
        bpy.ops.object.mode_set(mode="POSE")
        self._limit_bones(rig)
        self.targets = [self._reach(name) for name in EFFECTORS if name != rig.names[0]]
        self.object.pose.ik_solver = self.solver
        self.tune(self.object.pose)
        self.letters = "".join(figure.orders)
        self.bones = [self.object.pose.bones[n] for n in hinge_names(rig)]

    def tune(self, pose: Any) -> None:
        """Set the solver's own options."""

    def _make_bones(self, rig: Rig) -> None:
        edit = self.object.data.edit_bones
        at, frame = {rig.names[0]: np.zeros(3)}, {rig.names[0]: np.eye(3)}

        def add(name: str, place: Array, axes: Array, parent: str | None) -> Any:
            bone = edit.new(name)
            bone.head, bone.tail = (0.0, 0.0, 0.0), (0.0, LENGTH, 0.0)
            matrix = np.eye(4)
            matrix[:3, :3], matrix[:3, 3] = axes, place
            bone.matrix = self.mathutils.Matrix(matrix.tolist())
            bone.parent = edit[parent] if parent else None
            return bone

        add(rig.names[0], np.zeros(3), np.eye(3), None)
        for j in range(1, rig.joint_count):
            parent = int(rig.parents[j])
            above = rig.names[0] if parent == 0 else f"{rig.names[parent]}_2"
            place = at[above] + frame[above] @ rig.offsets[j]
            if rig.names[j] in EFFECTORS:
                add(f"{rig.names[j]}_tip", at[above], frame[above], above).tail = place
            for k, letter in enumerate(self.figure.orders[j - 1]):
                name, angle = f"{rig.names[j]}_{k}", self.rest[3 * (j - 1) + k]
                at[name] = place
                frame[name] = frame[above] @ quat_to_matrix(rotvec_to_quat(angle * np.array(AXIS[letter])))
                add(name, place, frame[name], above)
                above = name

    def _limit_bones(self, rig: Rig) -> None:
        bones = self.object.pose.bones
        for bone in bones:
            bone.rotation_mode = "QUATERNION"
            if bone.name.endswith("_tip"):
                bone.lock_ik_x = bone.lock_ik_y = bone.lock_ik_z = True
        n = 0
        for j in range(1, rig.joint_count):
            for k, letter in enumerate(self.figure.orders[j - 1]):
                bone = bones[f"{rig.names[j]}_{k}"]
                for other in "XYZ":
                    setattr(bone, f"lock_ik_{other.lower()}", other != letter)
                axis = letter.lower()
                setattr(bone, f"use_ik_limit_{axis}", True)
                setattr(bone, f"ik_min_{axis}", self.low[n] - self.rest[n])
                setattr(bone, f"ik_max_{axis}", self.high[n] - self.rest[n])
                n += 1

    def _reach(self, name: str) -> Any:
        target = self.bpy.data.objects.new(f"goal {name}", None)
        self.bpy.context.collection.objects.link(target)
        constraint = self.object.pose.bones[f"{name}_tip"].constraints.new("IK")
        constraint.target, constraint.iterations, constraint.use_stretch = target, ITERATIONS, False
        return target

    def reset(self, stand: Stand) -> None:
        self._write(stand)
        self.bpy.context.view_layer.update()

    def _write(self, stand: Stand) -> None:
        bones = self.object.pose.bones
        self.object.location = stand.root
        bones[self.rig.names[0]].rotation_quaternion = stand.turn[[3, 0, 1, 2]]
        for bone, letter, angle in zip(self.bones, self.letters, stand.hinges - self.rest, strict=True):
            bone.rotation_quaternion = (np.cos(0.5 * angle), *(np.sin(0.5 * angle) * np.array(AXIS[letter])))

    def solve(self, targets: Array) -> None:
        hips = EFFECTORS.index(self.rig.names[0])
        self.object.location = targets[hips]
        for target, at in zip(self.targets, np.delete(targets, hips, axis=0), strict=True):
            target.location = at
        self.bpy.context.view_layer.update()

    def stand(self) -> Stand:
        evaluated = self.object.evaluated_get(self.bpy.context.evaluated_depsgraph_get())
        world = {b.name: np.array(b.matrix)[:3, :3] for b in evaluated.pose.bones}
        angles = np.empty(len(self.bones))
        for n, (bone, letter) in enumerate(zip(self.bones, self.letters, strict=True)):
            x, y, z, w = matrix_to_quat(world[bone.parent.name].T @ world[bone.name])
            angles[n] = 2.0 * np.arctan2(np.dot((x, y, z), AXIS[letter]), w)
        angles = (angles + np.pi) % (2.0 * np.pi) - np.pi
        turn = matrix_to_quat(world[self.rig.names[0]])
        stand = Stand(np.array(self.object.location), turn, angles)
        self._write(stand)
        return stand


class ITasc(Blender):
    """iTaSC without state from frame to frame, five times as precise as its default; the rest as it comes."""

    name, solver = "Blender, iTaSC", "ITASC"

    def tune(self, pose: Any) -> None:
        pose.ik_param.mode, pose.ik_param.precision = "ANIMATION", 1e-3
