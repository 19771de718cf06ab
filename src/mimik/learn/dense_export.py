"""The default dense network as ONNX, with figures measured through the solver that runs it.

    python -m mimik.learn.dense_export RUN/network.pt -o dense.onnx --test STORE_OR_PACK

writes the network and, beside it, its model card.
"""

import argparse
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from mimik._types import Array
from mimik.errors import FileError
from mimik.learn.card import write_card
from mimik.learn.dense_measure import CASES
from mimik.learn.dense_train import load_dense
from mimik.learn.export import Contract, export_onnx, read_contract, replace_metrics
from mimik.learn.pack import ROTVEC_SCALE
from mimik.learn.train_ikgat import open_poses
from mimik.rig.builtin import builtin_rig
from mimik.rig.rig import Rig
from mimik.rig.role_space import role_rotations_to_rig
from mimik.rig.roles import BODY_PARENTS, BODY_ROLES
from mimik.rotation import geodesic, quat_apply, quat_inv, quat_mul, rotvec_to_quat
from mimik.solve.dense.body import LANDMARK_JOINT, LANDMARKS
from mimik.solve.dense.layout import FEATURE_PARTS, FEATURE_WIDTH, LEAVES, OUTPUT_WIDTH, USUAL_LEAVES
from mimik.solve.dense.solver import DenseSolver

PARTS = (
    "places", "seen", "present", "swings", "trunk", "bend normals", "length ratios", "landmark residuals",
    "landmarks seen", "noise", "up",
)  # fmt: skip
"""What stands in a row of features, in the order of FEATURE_PARTS."""

_TITLES = {
    "clean": "test MPJAE, degrees", "noise5": "with noise of 5 mm", "noise10": "with noise of 10 mm",
    "noise20": "with noise of 20 mm", "noise40": "with noise of 40 mm", "missing2": "with 2 random joints missing",
    "landmarks": "with landmarks of face, hands and feet", "no_up": "with the up direction unknown",
}  # fmt: skip


def export_dense(run: Path, path: Path, *, metrics: Mapping[str, Any] | None = None) -> None:
    """Export a run's `network.pt` as the network `mimik.solve.dense.solver` runs, checked against PyTorch."""
    network, describe = load_dense(run)
    contract = Contract(
        name="dense",
        inputs={
            "features": f"(n, {FEATURE_WIDTH}) float32, dimensionless, in the body's own frame; written by "
            "mimik.solve.dense.kernels.before from role positions in metres, Y up"
        },
        outputs={
            "answers": f"(n, {OUTPUT_WIDTH}) two times 22 roles times the first two columns of a rotation: the "
            "correction of the joint's base rotation (less the identity), and D_world in the body's own frame; read by "
            "mimik.solve.dense.kernels.after"
        },
        roles=BODY_ROLES,
        data=describe["data"],
        metrics=metrics or {},
        details={
            "feature_parts": dict(zip(PARTS, FEATURE_PARTS)),
            "landmarks": LANDMARKS,
            **{key: describe[key] for key in ("rig", "parameters", "multiply_adds", "train", "network")},
        },
    )
    examples = torch.randn(5, FEATURE_WIDTH, generator=torch.Generator().manual_seed(0))
    export_onnx(network, {"features": examples}, ("answers",), path, contract)


def figures_on_test(path: Path, poses: Path, *, rig_name: str = "humanoid", most: int = 60_000) -> dict[str, Any]:
    """Measure an exported network on the test split of a store or pack, through the solver, on a built-in rig.

    At most `most` poses, evenly chosen. Raises FileError when there is no test split.
    """
    rotvecs = open_poses(poses, splits=("test",)).rotvecs
    if not len(rotvecs.get("test", ())):
        raise FileError(poses, "holds no test split")
    kept = rotvecs["test"][:: max(1, -(-len(rotvecs["test"]) // most))]
    D_world, rig = rotvec_to_quat(kept / ROTVEC_SCALE), builtin_rig(rig_name)
    figures: dict[str, Any] = {"test frames": len(kept)}
    tables: dict[str, Any] = {}
    for case, how in CASES.items():
        by_joint, mpjpe_mm = measure_solver(path, D_world, rig, **how)
        figures[_TITLES[case]] = float(by_joint.mean())
        if case == "clean":
            figures["test MPJPE, mm"] = mpjpe_mm
            tables["test MPJAE by joint, degrees"] = dict(zip(BODY_ROLES, by_joint.tolist()))
        if case == "landmarks":
            tables["with landmarks, by joint, degrees"] = dict(zip(BODY_ROLES, by_joint.tolist()))
    tables["leaves always at their mean over the training motion, degrees"] = constant_figures(D_world)
    return {**figures, **tables}


def measure_solver(path: Path | None, D_world: Array, rig: Rig, **how: float) -> tuple[Array, float]:
    """Return the local angle error by joint (22,) in degrees, and MPJPE in mm, of the solver on a rig with all roles.

    `path` is an exported network, None for the packaged one; `how` is one of `mimik.learn.dense_measure.CASES`.
    """
    rng, joints = np.random.default_rng(1), [rig.roles[role] for role in BODY_ROLES]
    truth = role_rotations_to_rig(rig, D_world, np.zeros((len(D_world), 3)))
    clean = truth.positions()[:, joints]
    noise = float(how.get("noise", 0.0))
    seen = clean + noise * rng.standard_normal(clean.shape)
    if missing := int(how.get("missing", 0)):
        seen[rng.random(seen.shape[:2]).argsort(axis=1) < missing] = np.nan
    solver = DenseSolver(rig, path=path)
    marks = clean[:, LANDMARK_JOINT] + quat_apply(D_world[:, LANDMARK_JOINT], solver.body.landmarks)
    up = {} if how.get("up", True) else {"up": None}
    kept = np.isfinite(seen[:, [0, 1, 2, 3, 6, 9, 12, 13, 14, 16, 17]]).all(axis=2).sum(axis=1) >= 3
    found = solver.pose(seen[kept], landmarks=marks[kept] if how.get("landmarks") else None, noise=noise, **up)
    error = geodesic(found.rotations, truth.rotations[kept])[:, joints]
    distance = np.linalg.norm((found.positions()[:, joints] - clean[kept]), axis=-1)
    return np.rad2deg(error.mean(axis=0)), float(distance.mean() * 1e3)


def constant_figures(D_world: Array) -> dict[str, float]:
    """Return the error in degrees, by joint, of answering for a leaf its mean over the training motion."""
    parents = [BODY_PARENTS[j] for j in LEAVES]
    local = quat_mul(quat_inv(D_world[:, parents]), D_world[:, list(LEAVES)])
    error = np.rad2deg(geodesic(local, np.array(USUAL_LEAVES)).mean(axis=0))
    return {BODY_ROLES[j]: float(e) for j, e in zip(LEAVES, error)}


def main(arguments: list[str] | None = None) -> None:
    """Export from the command line, with the model card beside the network."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="network.pt of a run, or an exported network to be measured anew")
    parser.add_argument("-o", "--out", type=Path, required=True)
    parser.add_argument("--test", type=Path, help="store or pack whose test split gives the figures")
    given = parser.parse_args(arguments)
    if given.run.suffix != ".onnx":
        export_dense(given.run, given.out)
    elif given.run.resolve() != given.out.resolve():
        shutil.copyfile(given.run, given.out)
    if given.test:
        replace_metrics(given.out, figures_on_test(given.out, given.test))
    commands = (
        "mimik data import FOLDER -o STORE",
        "mimik train dense --data STORE -o RUN",
        f"python -m mimik.learn.dense_export RUN/network.pt -o {given.out.name} --test STORE",
    )
    write_card(read_contract(given.out), given.out.with_suffix(".md"), commands=commands)


if __name__ == "__main__":
    main()
