"""Pictures: not blank, the whole figure inside, views differ, files whole or absent."""

import numpy as np
import pytest
from PIL import Image as Pillow

from mimik.errors import FileError, MimikError, OptionError
from mimik.goals.keypoints import Keypoints
from mimik.motion.clip import Clip
from mimik.motion.sample import sample_clip
from mimik.rig.builtin import builtin_rig
from mimik.studio.camera import AZIMUTH_DEG, fit_camera, view_direction
from mimik.studio.film import Shot
from mimik.studio.render import film_of, render

RIG = builtin_rig("humanoid")
WALK = sample_clip(RIG, "walk", seconds=1.0, fps=30)
SMALL = {"width": 96, "height": 72}


def foreground(shot, subject=RIG):
    """Return where a figure's picture differs from the empty stage."""
    film = film_of(subject, shot)
    empty = film.stage.paint([], [])
    return (np.abs(film.picture(0.0).astype(int) - empty.astype(int)).sum(axis=2) > 24), film


@pytest.mark.parametrize("view", AZIMUTH_DEG)
def test_figure_is_inside_the_frame_and_fills_it(view):
    seen, _ = foreground(Shot(view, width=160, height=120))
    rows, columns = np.flatnonzero(seen.any(axis=1)), np.flatnonzero(seen.any(axis=0))
    assert seen.mean() > 0.01
    assert not seen[0].any() and not seen[:, 0].any()
    assert max(len(rows) / 120, len(columns) / 160) > 0.6


def test_front_side_and_back_differ_and_the_face_shows_only_in_front():
    pictures = {v: film_of(RIG, Shot(v, focus="head", width=120, height=120)).picture(0.0) for v in ("front", "back")}
    middle = {v: image[40:80, 40:80].astype(float).mean(axis=2) for v, image in pictures.items()}
    assert np.ptp(middle["front"]) > np.ptp(middle["back"]) + 20.0


@pytest.mark.parametrize("turn", [0.0, 2.0, -1.2])
def test_view_goes_with_where_the_figure_faces(turn):
    from mimik.rotation import quat_mul, rotvec_to_quat
    from mimik.studio.actor import actor_of, facing

    pose = RIG.tpose()
    q = np.array(pose.rotations)
    q[0] = quat_mul(rotvec_to_quat([0.0, turn, 0.0]), q[0])
    assert abs(facing(actor_of(Clip(RIG, q[None], np.array(pose.root)[None]))) - turn) < 1e-6


def test_camera_holds_all_points_from_any_direction():
    rng = np.random.default_rng(3)
    for _ in range(20):
        points = rng.normal(size=(200, 3)) * rng.uniform(0.05, 3.0, size=3) + rng.normal(size=3)
        direction = rng.normal(size=3)
        camera = fit_camera(points, direction / np.linalg.norm(direction), 320, 200)
        column, row, depth = camera.project(points).T
        assert depth.min() > 0.0
        assert column.min() > 0 and column.max() < 320 and row.min() > 0 and row.max() < 200


def test_png_strip_has_the_frames_asked_for(tmp_path):
    render(WALK, tmp_path / "a.png", frames=3, **SMALL)
    assert Pillow.open(tmp_path / "a.png").size == (3 * 96, 72)
    render(WALK, tmp_path / "b.png", frames=[0, 29], theme="dark", ghosts=2, title="x", labels=["y"], **SMALL)
    assert Pillow.open(tmp_path / "b.png").size == (2 * 96, 72)


@pytest.mark.parametrize("fps", [12.0, 30.0])
def test_gif_loops_and_lasts_as_long_as_the_clip(tmp_path, fps):
    said = []
    path = render(WALK, tmp_path / "a.gif", fps=fps, progress=lambda done, total: said.append((done, total)), **SMALL)
    gif = Pillow.open(path)
    total = 0
    for n in range(gif.n_frames):
        gif.seek(n)
        total += gif.info["duration"]
    count = said[-1][1]
    assert said[-1] == (count, count) and gif.info["loop"] == 0
    assert abs(total / 1000 - count / fps) < 0.02


def test_mp4_is_whole(tmp_path):
    imageio_ffmpeg = pytest.importorskip("imageio_ffmpeg")
    path = render(WALK, tmp_path / "a.mp4", fps=10, width=97, height=73)
    frames, seconds = imageio_ffmpeg.count_frames_and_secs(str(path))
    assert frames == 10 and abs(seconds - 1.0) < 0.15


def test_interruption_leaves_nothing(tmp_path):
    def stop(done, total):
        if done == 2:
            raise KeyboardInterrupt

    for name in ("a.gif", "a.mp4", "a.png"):
        with pytest.raises(KeyboardInterrupt):
            render(WALK, tmp_path / name, progress=stop, **SMALL)
    assert list(tmp_path.iterdir()) == []


def test_several_figures_and_bare_points_stand_side_by_side(tmp_path):
    points = Keypoints(RIG.names, WALK.positions(), 30.0)
    film = film_of([points, WALK, RIG], Shot(width=200, height=80), keypoints=None)
    picture = film.picture(0.5)
    assert picture.std() > 3.0
    anchors = film.anchors(0.0)
    assert len(anchors) == 3 and (np.diff(np.sort(anchors[:, 0])) > 15).all()


def test_missing_keypoints_are_left_out():
    positions = WALK.positions().copy()
    positions[:, ::2] = np.nan
    positions[3] = np.nan
    film = film_of(WALK, Shot(**SMALL), keypoints=Keypoints(RIG.names, positions, 30.0))
    assert np.isfinite(film.picture(3 / 30).astype(float)).all()
    empty = Keypoints(("a", "b"), np.full((4, 2, 3), np.nan), 30.0)
    assert film_of(empty, Shot(**SMALL)).picture(0.0).shape == (72, 96, 3)


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"view": "below"}, "hero"),
        ({"theme": "pink"}, "dark"),
        ({"width": 3}, "16"),
        ({"fps": -1.0}, "0.1"),
        ({"frames": [99999]}, "0 to 29"),
        ({"frames": 0}, "60"),
        ({"ghosts": -1}, "50"),
        ({"focus": "left_wing"}, "left_wrist"),
        ({"body": "ghost"}, "mannequin"),
    ],
)
def test_wrong_options_name_the_right_ones(tmp_path, options, word):
    name = "a.gif" if "fps" in options else "a.png"
    with pytest.raises(MimikError, match=word):
        render(WALK, tmp_path / name, **{**SMALL, **options})
    assert list(tmp_path.iterdir()) == []


def test_wrong_files_and_subjects():
    with pytest.raises(FileError, match="png"):
        render(WALK, "a.bmp")
    with pytest.raises(OptionError, match="Clip"):
        render("walk.bvh", "a.png")
    with pytest.raises(OptionError, match="nothing"):
        render([], "a.png")


def test_directions_are_unit():
    for view in AZIMUTH_DEG:
        assert abs(np.linalg.norm(view_direction(view, 1.0)) - 1.0) < 1e-12
