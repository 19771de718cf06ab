"""The command `mimik`, and `python -m mimik`: Ctrl-C ends it with one word, wherever it strikes."""

import signal
import sys
from types import FrameType

from mimik.errors import INTERRUPTED


def main() -> None:
    """Load and run the command line."""
    asked: list[int] = []

    def stop(number: int, frame: FrameType | None) -> None:
        asked.append(number)
        raise KeyboardInterrupt

    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:
        signal.signal(signal.SIGINT, stop)
    try:
        from mimik.cli.main import main as run

        run()
    except (KeyboardInterrupt, Exception) as error:  # compilers that Ctrl-C strikes raise other errors in its place
        if not asked and not isinstance(error, KeyboardInterrupt):
            raise
        print("\nstopped", file=sys.stderr)
        sys.exit(INTERRUPTED)
    finally:
        signal.signal(signal.SIGINT, before)


if __name__ == "__main__":
    main()
