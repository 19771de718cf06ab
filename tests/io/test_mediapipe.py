import json

import numpy as np
import pytest

from mimik.errors import FileError
from mimik.goals.layouts import LAYOUTS
from mimik.io import load_keypoints
from tests.takes import layout_walk

NAMES = LAYOUTS["mediapipe"].names


def world_landmarks() -> tuple[np.ndarray, np.ndarray]:
    """Return the walk as MediaPipe gives it (origin at the hips, Y down, Z away) and what is to be read from it."""
    walk = layout_walk("mediapipe")
    hips = (walk[:, NAMES.index("left_hip")] + walk[:, NAMES.index("right_hip")]) / 2
    centred = walk - hips[:, None]
    return np.nan_to_num(centred * [1, -1, -1], nan=0.01).round(7), centred


def landmark_dicts() -> list[list[dict[str, float]]]:
    raw, _ = world_landmarks()
    return [[{"x": x, "y": y, "z": z, "visibility": 0.75} for x, y, z in frame] for frame in raw.tolist()]


def json_shapes() -> dict[str, object]:
    frames = landmark_dicts()
    image = [[{"x": 0.5, "y": 0.5, "z": 0.0, "visibility": 1.0}] * 33] * len(frames)
    return {
        "list": frames,
        "frames": {"fps": 25, "frames": [{"landmarks": frame} for frame in frames]},
        "tasks": [
            {"timestamp_ms": 40 * t, "poseLandmarks": [i], "poseWorldLandmarks": [f]}
            for t, (f, i) in enumerate(zip(frames, image))
        ],
        "one key": {"pose_world_landmarks": frames},
        "numbers": [[list(p.values()) for p in frame] for frame in frames],
        "by name": [dict(zip(NAMES, frame)) for frame in frames],
        "protobuf": [
            {"pose_landmarks": {"landmark": i}, "pose_world_landmarks": {"landmark": f}} for f, i in zip(frames, image)
        ],
    }


def check(take) -> None:
    _, truth = world_landmarks()
    known = np.isfinite(truth)
    shift = (take.positions - truth)[known].reshape(-1, 3)
    assert take.layout == "mediapipe" and np.ptp(shift, axis=0).max() < 1e-6
    assert shift[0, 0] == pytest.approx(0, abs=1e-6) and 0.7 < shift[0, 1] < 1.1
    assert any("no root motion" in note for note in take.notes)


@pytest.mark.parametrize("shape", ["list", "frames", "tasks", "one key", "numbers", "by name", "protobuf"])
def test_json(tmp_path, shape):
    (tmp_path / "a.json").write_text(json.dumps(json_shapes()[shape]))
    take = load_keypoints(tmp_path / "a.json")
    check(take)
    assert take.fps == (25 if shape in ("frames", "tasks") else 30)
    assert (take.confidence == 0.75).all()


def test_csv(tmp_path):
    raw, _ = world_landmarks()
    head = "frame," + ",".join(f"x{k},y{k},z{k},v{k}" for k in range(33)) + "\n"
    rows = [f"{t}," + ",".join(f"{x},{y},{z},0.75" for x, y, z in frame) + "\n" for t, frame in enumerate(raw)]
    (tmp_path / "a.csv").write_text(head + "".join(rows))
    check(load_keypoints(tmp_path / "a.csv"))
    head = ",".join(f"{name.upper()}_{a}" for name in NAMES for a in "xyz") + "\n"
    rows = [",".join(map(str, frame.ravel())) + "\n" for frame in raw]
    (tmp_path / "b.csv").write_text(head + "".join(rows))
    check(load_keypoints(tmp_path / "b.csv"))


@pytest.mark.parametrize("key", ["pose_world_landmarks", "arr_0", "x"])
@pytest.mark.parametrize("columns", [3, 4])
def test_npz(tmp_path, key, columns):
    raw, _ = world_landmarks()
    raw = np.concatenate([raw, np.full((*raw.shape[:2], 1), 0.75)], axis=2)[..., :columns]
    np.savez(tmp_path / "a.npz", **{key: raw, "fps": 24.0})
    take = load_keypoints(tmp_path / "a.npz")
    check(take)
    assert take.fps == 24.0 and (take.confidence is None) == (columns == 3)


def test_landmarks_of_the_image_are_refused(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps([{"pose_landmarks": frame} for frame in landmark_dicts()]))
    with pytest.raises(FileError, match="pose_world_landmarks, in metres"):
        load_keypoints(tmp_path / "a.json")
