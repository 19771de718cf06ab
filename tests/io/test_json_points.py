import json

import numpy as np
import pytest

from mimik.errors import FileError, OptionError
from mimik.goals.layouts import LAYOUTS
from mimik.io import load_keypoints, save_keypoints
from tests.takes import layout_walk, walk_take

Y_DOWN = np.array([1.0, -1.0, -1.0])


def with_confidence(points: np.ndarray, value: float = 0.5) -> list:
    return np.concatenate([np.nan_to_num(points), np.full((len(points), 1), value)], axis=1).round(6).tolist()


def flat(points: np.ndarray, value: float = 0.5) -> list[float]:
    return [number for point in with_confidence(points, value) for number in point]


def write_folder(folder, values, name="take_{:012d}_keypoints.json", first=7):
    folder.mkdir()
    for t, value in enumerate(values):
        if value is not None:
            (folder / name.format(first + t)).write_text(json.dumps(value))
    return folder


def openpose_frame(*people, identity=-1):
    return {"version": 1.3, "people": [{"person_id": [identity], "pose_keypoints_3d": flat(p)} for p in people]}


@pytest.mark.parametrize("layout", ["body25", "coco18"])
def test_openpose_folder(tmp_path, layout):
    walk = layout_walk(layout)
    frames = [openpose_frame(points * Y_DOWN * 1000) for points in walk]
    frames[5] = {"people": []}
    frames[9]["people"][0]["pose_keypoints_3d"][3 * 4 + 3] = 0
    frames[20] = None
    take = load_keypoints(write_folder(tmp_path / "op", frames))
    assert take.layout == layout and take.frame_count == 60
    known = np.isfinite(take.positions[..., 0])
    assert np.allclose(take.positions[known], walk[known], atol=1e-6)
    assert (
        not known[5].any()
        and not known[20].any()
        and not known[9, 3]
        and known.sum() == known.size - 2 * walk.shape[1] - 1
    )
    assert any("1 frames are missing" in note for note in take.notes)


def test_openpose_hands_are_read(tmp_path):
    walk = layout_walk("body25")
    hand = np.arange(63, dtype=float).reshape(21, 3) * 0.001
    frames = [openpose_frame(points) for points in walk]
    for t, frame in enumerate(frames):
        frame["people"][0]["hand_left_keypoints_3d"] = flat(hand + walk[t, 7]) if t != 4 else []
    take = load_keypoints(write_folder(tmp_path / "op", frames))
    assert len(take.names) == 46 and take.names[25] == "left_hand_root"
    assert np.isnan(take.positions[4, 25:]).all() and np.isfinite(take.positions[5, 25:]).all()


@pytest.mark.parametrize("identified", [True, False])
def test_one_person_is_followed_among_several(tmp_path, identified):
    walk = layout_walk("body25")
    frames = []
    for t, points in enumerate(walk):
        people = [(1, points), (2, points + np.array([0.9, 0.0, 0.1]))] if 10 < t < 50 else [(1, points)]
        people = people[::-1] if t % 2 else people
        entries = [{"person_id": [i if identified else -1], "pose_keypoints_3d": flat(p)} for i, p in people]
        frames.append({"people": entries if t != 30 else []})
    folder = write_folder(tmp_path / "op", frames)
    take = load_keypoints(folder)
    known = np.isfinite(take.positions).all(axis=(1, 2))
    assert known.sum() == 59 and np.allclose(take.positions[known], walk[known], atol=1e-6)
    assert any("2 people" in note and "person=" in note for note in take.notes)
    other = load_keypoints(folder, person=1)
    assert np.isfinite(other.positions[20]).all() and np.isnan(other.positions[3]).all()
    with pytest.raises(OptionError, match="2 people"):
        load_keypoints(folder, person=2)


def test_2d_files_get_one_clear_error(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps({"people": [{"pose_keypoints_2d": [1, 2, 0.5] * 25}]}))
    with pytest.raises(FileError, match=r"2D keypoints only.*3D is needed"):
        load_keypoints(tmp_path / "a.json")


def test_panoptic_folder(tmp_path):
    walk = layout_walk("panoptic19")
    frames = [
        {"version": 0.7, "fpsType": "hd_29_97", "bodies": [{"id": 4, "joints19": flat(points * Y_DOWN * 100)}]}
        for points in walk
    ]
    frames[3]["bodies"][0]["joints19"][7] = -1
    take = load_keypoints(write_folder(tmp_path / "pa", frames, "body3DScene_{:08d}.json"))
    assert take.layout == "panoptic19" and take.fps == 29.97
    assert np.isnan(take.positions[3, 1]).all()
    known = np.isfinite(take.positions[..., 0])
    assert np.allclose(take.positions[known], walk[known], atol=1e-6)


def test_easymocap_folder(tmp_path):
    walk = layout_walk("body25")
    z_up = np.stack([walk[..., 0], -walk[..., 2], walk[..., 1]], axis=-1)
    frames = [[{"id": 0, "keypoints3d": with_confidence(points, float(t != 8))}] for t, points in enumerate(z_up)]
    take = load_keypoints(write_folder(tmp_path / "em", frames, "{:06d}.json", first=0))
    assert take.layout == "body25" and np.isnan(take.positions[8]).all()
    known = np.isfinite(take.positions[..., 0])
    assert np.allclose(take.positions[known], walk[known], atol=1e-6)


def json_shapes(names, points):
    listed = [with_confidence(frame, 1.0) for frame in points]
    three = [[p[:3] for p in frame] for frame in listed]
    named = [dict(zip(names, ({"x": x, "y": y, "z": z, "score": c} for x, y, z, c in frame))) for frame in listed]
    return {
        "list of frames": listed,
        "without confidence": three,
        "object": {"fps": 25, "names": names, "positions": three},
        "frames in an object": {"fps": 25, "frames": [{"keypoints": frame} for frame in listed]},
        "points by name": named,
        "name beside the point": [[{"name": n, **p} for n, p in frame.items()] for frame in named],
        "a trajectory a point": {n: [frame[k] for frame in three] for k, n in enumerate(names)},
        "frames that say their time": [{"time": t / 25, "joints": frame} for t, frame in enumerate(three)],
        "people of every frame": [[{"id": 3, "keypoints3d": frame}] for frame in listed],
    }


@pytest.mark.parametrize("shape", json_shapes(["a"], np.zeros((2, 1, 3))))
def test_shapes_of_plain_json(tmp_path, shape):
    walk = layout_walk("coco18")
    value = json_shapes(list(LAYOUTS["coco18"].names), walk)[shape]
    (tmp_path / "a.json").write_text(json.dumps(value))
    take = load_keypoints(tmp_path / "a.json")
    assert take.layout == "coco18"
    assert np.allclose(take.positions, walk, atol=1e-6)
    assert take.fps == (25 if "fps" in str(value)[:20] or "time" in shape else 30)


def test_what_is_written_reads_back_and_writes_the_same_bytes(tmp_path):
    take = walk_take("body25")
    positions = take.positions.copy()
    positions[4, 5] = np.nan
    lying = positions[..., [1, 0, 2]] * [1, -1, 1]
    for k, places in enumerate((positions, lying)):
        save_keypoints(take.with_positions(places), tmp_path / f"{k}.json")
        back = load_keypoints(tmp_path / f"{k}.json")
        assert np.allclose(back.positions, places, atol=1e-6, equal_nan=True) and back.fps == 30.0
        save_keypoints(back, tmp_path / "again.json")
        assert (tmp_path / f"{k}.json").read_bytes() == (tmp_path / "again.json").read_bytes()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[1,2,3]", "is no JSON"),
        ("{}", "no 3D points"),
        ("[" * 5000, "is no JSON"),
        ("[" * 900 + "1" + "]" * 900, "no 3D points"),
        ('{"positions":' * 300 + "{}" + "}" * 300, "no 3D points"),
        ('{"people":[' * 300 + "]}" * 300, "no 3D points"),
        ("[[[1,2,3],[4,5,6]],[[1,2,3]]]", "1 points, earlier frames 2"),
        ('{"names": ["a"], "positions": [[[1,2,3],[4,5,6]]]}', "1 names for 2 points"),
        ('{"people": 3}', 'no list "people"'),
        ('{"people": [{"pose_keypoints_3d": [1,2,3,4,5]}]}', "flat list"),
        ('{"bodies": [{"joints19": [1,2,3]}]}', "without joints19"),
        ("[[[null,null,null],[null,null,null]]]", "no 3D points of a person"),
    ],
)
def test_bad_json_is_explained(tmp_path, text, message):
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(FileError, match=message):
        load_keypoints(tmp_path / "a.json")


def test_a_bad_file_of_a_folder_is_named(tmp_path):
    frames = [openpose_frame(points) for points in layout_walk("body25")[:5]]
    folder = write_folder(tmp_path / "op", frames)
    (folder / "take_000000000009_keypoints.json").write_text('{"people": [')
    with pytest.raises(FileError, match="take_000000000009"):
        load_keypoints(folder)
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileError, match=r"no \.json"):
        load_keypoints(tmp_path / "empty")
