"""The model card beside each exported network: what it is, what it was trained on, what it reaches."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mimik.io.files import atomic_write

_TITLES = {
    "dense": "The default dense network",
    "ikgat": "IK-GAT, as published",
}
_ABOUT = {
    "dense": """\
Joint rotations from joint positions, whatever the rig: geometry gives every joint the rotation that positions
determine, this network (a residual MLP) corrects it where they do not, and a last step lays the bones along what was
seen. It works in the body's own frame, so turning or moving the person changes nothing, and it knows missing joints,
noise, and landmarks of face, hands and feet. Figures below are the solver's on the `humanoid` rig, 22 joints, local
rotations; noise is told to it as it is.

Motion: the Carnegie Mellon motion capture database (mocap.cs.cmu.edu) in the BVH conversion by B. Hahne (2010); both
place no restriction on its use. Split by subject; what is reported is `test`, what was chosen was chosen on `val`. The
database holds the recordings of some subjects twice, under other numbers. Training subjects that repeat a test subject
(117 is 85) or another training subject (93 and 103, 91 and 105, 90 and 121, 83 and 122, 70, 73 and 123, 77 and 139, 63
and 64, 74 and 84: one of each kept) were left out. That left 75 subjects, of whom poses were chosen by diversity, not
by frame, and posed on 50,000 random bodies. Two of the ten test subjects, 106 and 141, are the same recordings.
The learning curve is docs/images/dense_curve.png.

What it cannot do: joint centres hardly tell how head, wrists and toes are turned, and the rest of the joints hardly
tell the twist of the ankles. Measured on people it has not seen, the network is there little better than always
answering the mean (last table); what it would answer beyond that it remembers of the people it was trained on. Hence
the solver draws these answers towards the mean by a share chosen on `val`. Give it landmarks and these joints are
solved. It is trained on one database: one culture's walking, sports and play, adults only; bodies of other sizes are
made, not recorded.""",
    "ikgat": """\
Joint rotations from joint positions by graph attention on the skeleton, after "Amortized Inverse Kinematics via Graph
Attention for Real-Time Human Avatar Animation" (2026). It is here to compare with, and for those who want the method as
published: `method="ikgat"`.

What the paper leaves open was settled as follows. One W_loc serves both refined layers and each joint has its own rows
in the output head: the reading under which the parameters are the paper's 374 thousand. The multiply-adds come to 6.03
million without the distal refinement (paper: 6.1) and 7.34 million with it. Batches are turned about the vertical and
half of them mirrored; the learning rate comes down along a cosine.

It needs every joint. It was trained on clean positions of one body and knows no other proportions, and what it reaches
is not fitted to the positions observed afterwards. Its learning curve is docs/images/ikgat_curve.png; the data are
those of the default network, see dense.md.""",
}


def write_card(contract: Mapping[str, Any], path: Path, *, commands: tuple[str, ...] = ()) -> None:
    """Write the card of a contract as Markdown; `commands` are those that make the network again."""
    name = str(contract["name"])
    parts = [f"# {_TITLES.get(name, name)}", _ABOUT.get(name, "")]
    parts.append("## In and out\n\n" + _list({**contract["inputs"], **contract["outputs"]}))
    parts.append(f"Roles: {', '.join(contract['roles'])}.")
    parts.append("## Figures\n\n" + _figures(contract["metrics"]))
    facts = {**contract["data"], "commit": contract["commit"], "weights (SHA-256)": contract["weights"]}
    parts.append("## Training\n\n" + _list(facts) + "\n" + _list(contract["details"].get("train", {})))
    if commands:
        parts.append("```\n" + "\n".join(commands) + "\n```")
    with atomic_write(path) as partial:
        partial.write_text("\n\n".join(part for part in parts if part) + "\n", encoding="utf-8")


def _list(facts: Mapping[str, Any]) -> str:
    return "\n".join(f"- {key.replace('_', ' ')}: {_text(value)}" for key, value in facts.items())


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_text(item)}" for key, item in value.items())
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _figures(metrics: Mapping[str, Any]) -> str:
    """Return a table of single figures and one of those by joint."""
    single = {key: value for key, value in metrics.items() if not isinstance(value, Mapping)}
    rows = ["| measure | figure |", "|---|---|", *(f"| {key} | {_round(value)} |" for key, value in single.items())]
    tables = ["\n".join(rows)]
    for title, values in metrics.items():
        if isinstance(values, Mapping):
            tables.append(f"{title}: " + ", ".join(f"{key} {_round(value)}" for key, value in values.items()) + ".")
    return "\n\n".join(tables)


def _round(value: Any) -> str:
    return f"{value:.2f}" if isinstance(value, float) else _text(value)
