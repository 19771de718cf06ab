"""Goals and a rig in, poses out. One folder a method; all answer with the same Solution.

This folder and the public call share the name `mimik.solve`: the module is callable and calls `mimik.api.solve`.
"""

import sys
from types import ModuleType
from typing import Any

from mimik.solve.solution import Solution

__all__ = ["Solution"]


class _CallableModule(ModuleType):
    """A module that is also the public function of its name."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Solve a take; see `mimik.api.solve`."""
        from mimik.api import solve

        return solve(*arguments, **options)


sys.modules[__name__].__class__ = _CallableModule
