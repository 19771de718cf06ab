"""What each program wants of a file, and how to open it there."""

from __future__ import annotations

from typing import Any

from mimik.errors import OptionError, one_of

PROGRAMS = ("blender", "unreal", "unity", "maya")

_OPTIONS: dict[str, dict[str, dict[str, Any]]] = {
    "blender": {".bvh": {"units": "m"}},
    "unreal": {".bvh": {"units": "cm"}},
    "unity": {".bvh": {"units": "m"}},
    "maya": {".bvh": {"units": "cm"}},
}
_OPENING = {
    ("blender", ".bvh"): "Blender: File > Import > Motion Capture (.bvh), tick 'Update Scene FPS'",
    ("blender", ".glb"): "Blender: File > Import > glTF 2.0; set the scene's frame rate to the clip's",
    ("blender", ".vrm"): "Blender: with the VRM add-on, File > Import > VRM",
    ("blender", ".vrma"): "Blender: with the VRM add-on, select the avatar, File > Import > VRM Animation",
    ("unreal", ".glb"): "Unreal: drag the file into the Content Browser (Interchange reads glTF)",
    ("unreal", ".bvh"): "Unreal reads no BVH by itself: convert to .glb",
    ("unity", ".glb"): "Unity: with the package glTFast, drag the file into Assets",
    ("unity", ".vrm"): "Unity: with UniVRM, drag the file into Assets",
    ("unity", ".vrma"): "Unity: with UniVRM 0.115 or later, load at run time",
    ("unity", ".bvh"): "Unity reads no BVH by itself: convert to .glb",
    ("maya", ".bvh"): "Maya reads no BVH by itself; MotionBuilder: File > Motion File Import",
}


def writing_options(program: str | None, suffix: str) -> dict[str, Any]:
    """Return the writer's options a program needs for files of a suffix; raises OptionError for an unknown program."""
    if program is None:
        return {}
    if program not in PROGRAMS:
        raise OptionError(one_of("program", program, PROGRAMS))
    return dict(_OPTIONS[program].get(suffix, {}))


def how_to_open(program: str | None, suffix: str) -> str:
    """Return one line on opening the file, empty where there is nothing to say."""
    return _OPENING.get((program or "blender", suffix), "")
