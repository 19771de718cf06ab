import numpy as np
import pytest

from mimik.errors import FileError
from mimik.io import load_keypoints
from tests.takes import layout_walk, role_walk


def z_up(points: np.ndarray) -> np.ndarray:
    return np.stack([points[..., 0], -points[..., 2], points[..., 1]], axis=-1)


@pytest.mark.parametrize("scale", [1.0, 1000.0])
@pytest.mark.parametrize("flat", [True, False])
@pytest.mark.parametrize("suffix", ["npy", "npz"])
def test_human36m_arrays(tmp_path, scale, flat, suffix):
    walk = layout_walk("human36m")
    raw = z_up(walk) * scale
    raw = raw.reshape(len(raw), -1) if flat else raw
    np.save(tmp_path / "a.npy", raw) if suffix == "npy" else np.savez(tmp_path / "a.npz", positions_3d=raw)
    take = load_keypoints(tmp_path / f"a.{suffix}")
    assert take.layout == "human36m" and np.allclose(take.positions, walk, atol=1e-9)
    assert any("layout='coco17'" in note for note in take.notes)


def test_the_32_joints_of_the_data_set(tmp_path):
    walk = layout_walk("human36m")
    kept = [0, 1, 2, 3, 6, 7, 8, 12, 13, 14, 15, 17, 18, 19, 25, 26, 27]
    raw = np.zeros((60, 32, 3))
    raw[:, kept] = walk
    np.save(tmp_path / "a.npy", raw)
    assert np.allclose(load_keypoints(tmp_path / "a.npy").positions, walk, atol=1e-9)


def test_17_points_that_are_coco(tmp_path):
    walk = layout_walk("coco17")
    np.save(tmp_path / "a.npy", walk)
    assert load_keypoints(tmp_path / "a.npy").layout == "coco17"
    assert load_keypoints(tmp_path / "a.npy", layout="human36m").layout == "human36m"


@pytest.mark.parametrize("name", ["roles", "smpl24", "smplh52", "body25", "halpe26", "panoptic19"])
def test_arrays_of_known_sizes(tmp_path, name):
    walk = np.nan_to_num(layout_walk(name), nan=0.5)
    np.savez(tmp_path / "a.npz", joints=walk.astype(np.float32), fps=20)
    take = load_keypoints(tmp_path / "a.npz")
    assert take.layout == name and take.fps == 20 and np.allclose(take.positions, walk, atol=1e-6)


def test_joints_first_frames_last(tmp_path):
    np.save(tmp_path / "a.npy", np.moveaxis(role_walk(60), 0, 2)[None])
    assert np.allclose(load_keypoints(tmp_path / "a.npy").positions, role_walk(60))


def test_what_is_there_is_listed_when_nothing_fits(tmp_path):
    np.savez(tmp_path / "a.npz", weird=np.zeros((4, 11, 3)))
    with pytest.raises(FileError, match=r"weird float64 \(4, 11, 3\)"):
        load_keypoints(tmp_path / "a.npz")
    np.save(tmp_path / "b.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(FileError, match=r"not a readable npy"):
        load_keypoints(tmp_path / "b.npy")
    np.save(tmp_path / "c.npy", np.full((4, 17, 3), np.nan))
    with pytest.raises(FileError, match="every coordinate is missing"):
        load_keypoints(tmp_path / "c.npy")
