"""`mimik train`: train the library's networks. Needs the extra `mimik[train]`."""

from pathlib import Path
from typing import Annotated, Literal

import typer

app = typer.Typer(no_args_is_help=True, help="Train networks. Needs PyTorch: install mimik with the extra 'train'.")


@app.command("ikgat")
def ikgat_command(
    data: Annotated[Path, typer.Option(help="Store of `mimik data import`, or a pack.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder of the run.")],
    rig: Annotated[str, typer.Option(help="Built-in rig or rig file to train for.")] = "humanoid",
    start_from: Annotated[Path | None, typer.Option("--from", help="best.pt of a run to fine-tune.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in --out.")] = False,
    poses: Annotated[int, typer.Option(help="Diverse training poses to choose from a store.")] = 400_000,
    steps: Annotated[int, typer.Option(help="Optimizer steps, unless it stops early.")] = 60_000,
    minutes: Annotated[float | None, typer.Option(help="Stop after this time; --resume goes on.")] = None,
    batch: Annotated[int, typer.Option(help="Poses in a step.")] = 512,
    learning_rate: Annotated[float, typer.Option("--lr", help="Highest learning rate.")] = 1e-3,
    fk_weight: Annotated[float, typer.Option(help="Weight of the forward-kinematics loss.")] = 0.1,
    space: Annotated[Literal["bone", "world", "local"], typer.Option(help="Rotation space predicted.")] = "bone",
    graph: Annotated[Literal["both", "one", "full"], typer.Option(help="Who hears whom.")] = "both",
    attention: Annotated[bool, typer.Option(help="Attention, or the mean of the neighbours.")] = True,
    embedding: Annotated[bool, typer.Option(help="Joint embedding.")] = True,
    shortcut: Annotated[bool, typer.Option(help="Global shortcut.")] = True,
    refinement: Annotated[bool, typer.Option(help="Distal local refinement.")] = True,
    seed: Annotated[int, typer.Option(help="Seed of weights and batches.")] = 0,
    export: Annotated[Path | None, typer.Option(help="Write the best network here as ONNX.")] = None,
) -> None:
    """Train IK-GAT as published, one switch for each of the paper's ablations."""
    from mimik.api import load_rig
    from mimik.errors import MissingExtraError, OptionError

    try:
        from mimik.learn.ikgat import IkGatConfig
        from mimik.learn.train import TrainConfig
        from mimik.learn.train_ikgat import open_poses, print_row, train_ikgat
    except ImportError as error:
        raise MissingExtraError("training", "train") from error

    if export is not None and (space == "local" or not (attention and embedding and shortcut)):
        raise OptionError("--export writes the network as published; leave its ablations off")
    shape = IkGatConfig(graph=graph, attention=attention, embedding=embedding, shortcut=shortcut, refinement=refinement)
    config = TrainConfig(
        batch=batch, learning_rate=learning_rate, fk_weight=fk_weight, steps=steps, minutes=minutes, seed=seed
    )
    train_ikgat(
        open_poses(data, count=poses), load_rig(rig), out, network_config=shape, config=config, space=space,
        start_from=start_from, resume=resume, report=print_row,
    )  # fmt: skip
    typer.echo(f"wrote  {out / 'best.pt'}, {out / 'curve.csv'}")
    if export is not None:
        from mimik.learn.export import export_ikgat

        export_ikgat(out / "best.pt", export)
        typer.echo(f"wrote  {export}")


@app.command("dense")
def dense_command(
    data: Annotated[Path, typer.Option(help="Store of `mimik data import`, or a pack.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder of the run.")],
    rig: Annotated[str | None, typer.Option(help="Fine-tune on this rig's body: built-in or rig file.")] = None,
    start_from: Annotated[
        Path | None, typer.Option("--from", help="network.pt or exported .onnx to start from.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in --out.")] = False,
    poses: Annotated[int, typer.Option(help="Diverse training poses to choose from a store.")] = 400_000,
    minutes: Annotated[float, typer.Option(help="Length of the run; the learning rate comes down over it.")] = 8.0,
    batch: Annotated[int, typer.Option(help="Poses in a step.")] = 8192,
    learning_rate: Annotated[
        float | None, typer.Option("--lr", help="Highest learning rate: 0.003, or 0.0003 with --from.")
    ] = None,
    patience: Annotated[int, typer.Option(help="Validations without a better result before stopping.")] = 8,
    seed: Annotated[int, typer.Option(help="Seed of weights, bodies and batches.")] = 0,
    export: Annotated[Path | None, typer.Option(help="Write the best network here as ONNX.")] = None,
) -> None:
    """Train the default network: bodies of all kinds, or one rig's."""
    from mimik.api import load_rig
    from mimik.errors import MissingExtraError, OptionError

    try:
        from mimik.learn.dense_train import DenseConfig, print_validation, train_dense
        from mimik.learn.train_ikgat import open_poses
    except ImportError as error:
        raise MissingExtraError("training", "train") from error

    if not (minutes > 0 and batch > 0):
        raise OptionError("--minutes and --batch must be above 0")
    if learning_rate is None:
        learning_rate = 3e-3 if start_from is None else 3e-4
    config = DenseConfig(
        minutes=minutes, batch=batch, rate=learning_rate, patience=patience, seed=seed, pool=8 * batch
    )  # fmt: skip
    train_dense(
        open_poses(data, count=poses), out, config=config, rig=None if rig is None else load_rig(rig),
        start_from=start_from, resume=resume, show=print_validation,
    )  # fmt: skip
    typer.echo(f"wrote  {out / 'network.pt'}, {out / 'curve.csv'}")
    if export is not None:
        from mimik.learn.dense_export import export_dense

        export_dense(out / "network.pt", export)
        typer.echo(f"wrote  {export}")
