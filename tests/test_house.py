"""The house keeps its order: imports go one way, heavy libraries stay where they belong, files stay small."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "mimik"
ORDER = (
    "errors", "_types", "rotation", "rig", "goals", "solve", "motion", "io", "learn", "live", "studio", "api", "cli",
    "__main__",
)  # fmt: skip
COMPOSING = ("takes", "takes_report")
ALLOWED = {
    ("motion/clip.py", "io"),  # Clip.save, loaded when it is called
    ("solve/__init__.py", "api"),  # mimik.solve(...), the public call that shares the folder's name
}
HOMES = {"torch": "learn", "roma": "learn", "onnx": "learn", "matplotlib": "learn", "viser": "studio"}
HEAVY = ("scipy", "numba", "onnxruntime", "pygltflib", "ezc3d", "torch", "viser", "typer", "rich", "PIL")
FILES = sorted(SOURCE.rglob("*.py"))
NAMES = [path.relative_to(SOURCE).as_posix() for path in FILES]
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def tree(name: str) -> ast.Module:
    return ast.parse((SOURCE / name).read_text(encoding="utf-8"))


def imported(name: str) -> Iterator[str]:
    """Dotted names of everything a file imports, inside functions too; what only the type checker sees is left out."""
    typing_only = {
        id(inner)
        for node in ast.walk(tree(name))
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree(name)):
        if id(node) in typing_only:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def functions(name: str) -> Iterator[FUNCTIONS]:
    return (node for node in ast.walk(tree(name)) if isinstance(node, FUNCTIONS))


def is_kernel(node: FUNCTIONS) -> bool:
    return any(
        "njit" in ast.unparse(decorator) or "vectorize" in ast.unparse(decorator) for decorator in node.decorator_list
    )


def folder(name: str) -> str:
    return name.split("/", maxsplit=1)[0].removesuffix(".py")


def rank(part: str) -> int:
    """Return the place in the order; what composes the folders (api.py and the files beside it) is one place."""
    return ORDER.index("api" if part in COMPOSING else part)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "__init__.py"])
def test_a_folder_imports_only_from_folders_left_of_it(name):
    here = rank(folder(name))
    for dotted in imported(name):
        parts = dotted.split(".")
        if parts[0] != "mimik" or parts[1] == "__version__" or (name, parts[1]) in ALLOWED:
            continue
        assert rank(parts[1]) <= here, f"{name} imports {dotted}, which stands right of it"


@pytest.mark.parametrize("name", NAMES)
def test_heavy_libraries_stay_at_home(name):
    for dotted in imported(name):
        home = HOMES.get(dotted.split(".")[0])
        assert home is None or folder(name) == home, f"{name} imports {dotted}, which belongs in {home}/"


@pytest.mark.parametrize("name", NAMES)
def test_no_code_comes_from_data(name):
    banned = {"pickle", "cPickle", "dill", "marshal", "shelve", "joblib"}
    assert not banned & {dotted.split(".")[0] for dotted in imported(name)}
    for node in ast.walk(tree(name)):
        if not isinstance(node, ast.Call):
            continue
        assert not (isinstance(node.func, ast.Name) and node.func.id in {"eval", "exec", "__import__"}), name
        for keyword in node.keywords:
            value = keyword.value.value if isinstance(keyword.value, ast.Constant) else None
            assert keyword.arg != "allow_pickle" or value is False, f"{name}: allow_pickle"
            assert keyword.arg != "weights_only" or value is True, f"{name}: weights_only"
            assert keyword.arg != "shell" or value is False, f"{name}: shell"
        called = ast.unparse(node.func)
        if called == "torch.load":
            assert any(keyword.arg == "weights_only" for keyword in node.keywords), (
                f"{name}: torch.load decides nothing"
            )


@pytest.mark.parametrize("name", NAMES)
def test_sizes(name):
    assert len((SOURCE / name).read_text(encoding="utf-8").splitlines()) <= 600, f"{name} is too long"
    for node in functions(name):
        length = (node.end_lineno or 0) - node.lineno + 1
        limit = 120 if is_kernel(node) else 90
        assert length <= limit, f"{name}: {node.name} has {length} lines"


@pytest.mark.parametrize("name", NAMES)
def test_public_names_say_what_they_are(name):
    if Path(name).name.startswith("_") and name != "__init__.py":
        return
    assert ast.get_docstring(tree(name)), f"{name} has no docstring"
    for node in tree(name).body:
        if not isinstance(node, FUNCTIONS | ast.ClassDef) or node.name.startswith("_"):
            continue
        assert ast.get_docstring(node), f"{name}: {node.name} has no docstring"
        if isinstance(node, ast.ClassDef):
            for method in node.body:
                if isinstance(method, FUNCTIONS) and not method.name.startswith("_"):
                    assert ast.get_docstring(method), f"{name}: {node.name}.{method.name} has no docstring"


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_left_lying_about(name):
    text = (SOURCE / name).read_text(encoding="utf-8")
    assert not re.search(r"\b(TODO|FIXME|XXX|HACK)\b", text), f"{name} puts something off"
    assert not re.search(r"^\s*breakpoint\(\)", text, re.MULTILINE)
    assert "\t" not in re.sub(r'"[^"\n]*"', "", text), f"{name} holds a tab"


def fresh(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout


def test_import_loads_numpy_only():
    loaded = fresh("import sys, mimik; dir(mimik); print(*{name.split('.')[0] for name in sys.modules})").split()
    assert "mimik" in loaded
    assert not set(HEAVY) & set(loaded)


def test_import_loads_nothing_but_a_little_of_python_itself():
    before = "import sys, typing, importlib; before = set(sys.modules); import mimik; "
    assert fresh(before + "print(*set(sys.modules) - before)").split() == ["mimik"]


def test_command_line_help_loads_no_solver():
    code = "import sys; sys.argv = ['mimik', '--version']\nfrom mimik.cli.main import app\n"
    loaded = fresh(code + "app(standalone_mode=False)\nprint(*{name.split('.')[0] for name in sys.modules})").split()
    assert not {"numba", "scipy", "onnxruntime", "torch", "viser", "pygltflib", "ezc3d"} & set(loaded)


def tracked() -> list[Path]:
    git = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if git.returncode != 0:
        pytest.skip("not a git checkout")
    return [ROOT / name for name in git.stdout.split("\0") if name and (ROOT / name).is_file()]


def test_no_large_file_is_kept():
    for path in tracked():
        assert path.stat().st_size < 8_000_000, f"{path.relative_to(ROOT)} is too large"


def test_no_build_product_is_kept():
    bad = {".pyc", ".pyo", ".so", ".pkl", ".pickle", ".pt", ".pth", ".nbc", ".nbi", ".whl"}
    assert not [path.name for path in tracked() if path.suffix in bad]
