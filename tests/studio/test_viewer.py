"""The viewer: serves on loopback, draws in one thread, obeys its panel, stops."""

import time

import numpy as np
import pytest

from mimik.errors import OptionError
from mimik.motion.clip import Clip
from mimik.motion.sample import sample_clip
from mimik.rig.builtin import builtin_rig

pytest.importorskip("viser")
from mimik.studio.mannequin import mannequin
from mimik.studio.viewer import view
from mimik.studio.viewer_figure import split_by_tint

RIG = builtin_rig("humanoid")


def wait_for(condition, seconds=10.0):
    """Wait until `condition()` holds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_two_clips_play_scrub_and_compare():
    walk = sample_clip(RIG, "walk", seconds=1.0, fps=30)
    shifted = Clip(RIG, walk.rotations, walk.root + np.array([0.0, 0.05, 0.0]), 30.0)
    viewer = view([walk, shifted], port=0, open_browser=False, wait=False)
    try:
        assert viewer.url.startswith("http://127.0.0.1:")
        panel = viewer.panel
        wait_for(lambda: panel.shown > 3)
        panel.playing.value = False
        panel.frame.value = 12
        wait_for(lambda: panel.shown == 12)
        wait_for(lambda: "5.0 cm" in panel.differences.content)
        panel.arrangement.value = "overlaid"
        wait_for(lambda: np.allclose(viewer.figures[1].root.position, 0.0))
        for widget, value in ((panel.names, True), (panel.axes, True), (panel.ghosts, 2), (panel.dark, True)):
            widget.value = value
        wait_for(lambda: len(viewer.figures[0].labels) == RIG.joint_count and viewer.figures[0].ghosts)
        assert viewer.theme.name == "dark"
        bone = viewer.figures[0].meshes[0].bones[0]
        assert np.isfinite(bone.wxyz).all() and abs(np.linalg.norm(bone.wxyz) - 1.0) < 1e-6
        assert viewer._thread.is_alive()
    finally:
        viewer.stop()
    assert not viewer._thread.is_alive()


def test_wrong_port_and_theme():
    with pytest.raises(OptionError, match="65535"):
        view(RIG, port=99999, open_browser=False, wait=False)
    with pytest.raises(OptionError, match="dark"):
        view(RIG, theme="pink", open_browser=False, wait=False)


def test_cutting_along_the_accent_keeps_the_whole_surface():
    mesh = mannequin(RIG)

    def area(vertices, faces):
        a, b, c = (vertices[faces[:, k]] for k in range(3))
        return np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2

    parts = split_by_tint(mesh)
    assert len(parts) == 2 and all(len(faces) for _, faces, _ in parts)
    whole = area(mesh.vertices, mesh.faces)
    assert abs(sum(area(v, f) for v, f, _ in parts) - whole) < 1e-6 * whole
    for _, _, weights in parts:
        np.testing.assert_allclose(weights.sum(axis=1), 1.0, atol=1e-5)
