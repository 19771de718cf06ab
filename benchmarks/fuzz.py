"""Feed every reader broken files and let nothing but MimikError out; memory and time of each input are bounded.

    python benchmarks/fuzz.py --count 200000 --format all
    python benchmarks/fuzz.py --count 20000 --format bvh gltf --workers 2

Each worker process may take `--memory` gigabytes of address space and `--seconds` for one input. An input that brings
out any other exception, too much memory or too much time is kept under `--keep`, with its message beside it.
"""

import argparse
import collections
import multiprocessing
import os
import resource
import signal
import sys
import tempfile
import time
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.io.fuzz import Seed, mutants, read_all, seeds

BATCH = 500
IN_MEMORY = Path("/dev/shm")
"""Where it is there, inputs are written to memory: most of an input's time is else the disk's."""


@dataclass
class Tally:
    """What a batch of inputs came to."""

    module: str
    inputs: int = 0
    slowest: float = 0.0
    memory_mb: float = 0.0
    failures: collections.Counter[str] = field(default_factory=collections.Counter)


class TooSlowError(BaseException):
    """An input took longer than it may; not an Exception, so that no reader can swallow it."""


def main() -> int:
    """Run the fuzz and print one line a format; return 1 when anything but our error came out."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200_000, help="inputs for each format")
    parser.add_argument("--format", nargs="+", default=["all"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--memory", type=float, default=6.0, help="gigabytes of address space for each worker")
    parser.add_argument("--seconds", type=float, default=10.0, help="for one input")
    parser.add_argument("--keep", type=Path, default=Path(tempfile.gettempdir()) / "mimik-fuzz")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        all_seeds = seeds(Path(folder))
    modules = sorted({seed.module for seed in all_seeds})
    wanted = modules if "all" in options.format else options.format
    if unknown := set(wanted) - set(modules):
        parser.error(f"unknown format {', '.join(unknown)}; valid: all {' '.join(modules)}")
    failed = 0
    for module in wanted:
        start = time.perf_counter()
        tally = run_format([s for s in all_seeds if s.module == module], options)
        failed += sum(tally.failures.values())
        rate = tally.inputs / (time.perf_counter() - start)
        said = "; ".join(f"{n} x {message}" for message, n in tally.failures.most_common(5)) or "only our error"
        bounds = f"slowest {tally.slowest:.2f} s, peak {tally.memory_mb:.0f} MB"
        print(f"{module:<12}{tally.inputs:>8} inputs, {rate:>5.0f}/s, {bounds}: {said}", flush=True)
    print(f"{'FAILED' if failed else 'passed'}: {failed} failures" + (f", kept in {options.keep}" if failed else ""))
    return 1 if failed else 0


def run_format(sources: list[Seed], options: argparse.Namespace) -> Tally:
    """Spread the inputs of one format over the workers."""
    options.keep.mkdir(parents=True, exist_ok=True)
    jobs = [
        (
            sources[k % len(sources)],
            options.seed,
            k,
            min(BATCH, options.count - k * BATCH),
            options.seconds,
            options.keep,
        )
        for k in range(-(-options.count // BATCH))
    ]
    total = Tally(sources[0].module)
    context = multiprocessing.get_context("spawn")
    with context.Pool(options.workers, initializer=limit_memory, initargs=(options.memory,)) as pool:
        for tally in pool.imap_unordered(run_batch, jobs):
            total.inputs += tally.inputs
            total.slowest = max(total.slowest, tally.slowest)
            total.memory_mb = max(total.memory_mb, tally.memory_mb)
            total.failures.update(tally.failures)
    return total


def limit_memory(gigabytes: float) -> None:
    """Bound a worker's address space, so that an input that asks for more fails at once."""
    size = int(gigabytes * 1e9)
    resource.setrlimit(resource.RLIMIT_AS, (size, size))
    signal.signal(signal.SIGALRM, too_slow)
    warnings.simplefilter("ignore")


def too_slow(number: int, frame: FrameType | None) -> None:
    """Break off an input that takes too long."""
    raise TooSlowError


def run_batch(job: tuple[Seed, int, int, int, float, Path]) -> Tally:
    """Read a batch of broken copies of one seed."""
    seed, base, number, count, seconds, keep = job
    rng = np.random.default_rng([base, number, len(seed.data)])
    tally = Tally(seed.module)
    with tempfile.TemporaryDirectory(dir=IN_MEMORY if IN_MEMORY.is_dir() else None) as folder:
        path = Path(folder) / f"broken{seed.suffix}"
        for _, data in zip(range(count), mutants(seed, rng)):
            path.write_bytes(data)
            start = time.perf_counter()
            signal.setitimer(signal.ITIMER_REAL, seconds)
            try:
                failures = read_all(seed.module, path)
            except TooSlowError:
                failures = [f"{seed.module}: longer than {seconds:g} s"]
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0.0)
            tally.inputs += 1
            tally.slowest = max(tally.slowest, time.perf_counter() - start)
            for failure in failures:
                message = failure.replace(str(path), "FILE")[:120]
                tally.failures[message] += 1
                if tally.failures[message] == 1:
                    place = keep / f"{seed.module}-{base}-{number}-{tally.inputs}{seed.suffix}"
                    place.write_bytes(data)
                    place.with_suffix(".txt").write_text(failure)
    tally.memory_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return tally


if __name__ == "__main__":
    sys.exit(main())
