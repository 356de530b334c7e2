"""The decorators of compiled functions: ``kernel`` for those that Python calls, ``internal`` and ``inline`` for others.

LLVM copies a function that compiled ones alone call into the code of each caller and optimises the copy. So Numba stops
at LLVM's representation of such a function, lightly optimised: machine code of its own would never run. Passes over
what it does not contain (closures, array expressions, arguments that are None, references) are left out.
"""

from typing import Any

from numba import _dynfunc, njit
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.typed_passes import NativeLowering, NoPythonBackend, NopythonTypeInference, PreLowerStripPhis
from numba.core.untyped_passes import FixupArgs, GenericRewrites, IRProcessing, ReconstructSSA, TranslateByteCode


class Library(JITCodeLibrary):
    """The code of a function for callers to copy, which the engine that makes machine code is not given."""

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        manager, builder = self._codegen._module_pass_manager(opt=1)
        manager.run(self._final_module, builder)

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class Lowering(NativeLowering):
    """Translation of a typed function to LLVM's representation."""

    _name = "internal_lowering"

    def run_pass(self, state: Any) -> bool:
        """Set the result of compiling, and register the function with the context in which its callers look it up."""
        name = state.func_id.func_qualname
        state.flags.no_compile = True
        state.library = Library(state.targetctx.codegen(), name)
        super().run_pass(state)
        descriptor, libraries = state.cr.fndesc, (state.library,)
        # an object of the type that Numba keeps for a function; its address is 0
        entry = _dynfunc.make_function(descriptor.lookup_module(), name, "", 0, state.cr.env, libraries)
        state.targetctx.insert_user_function(entry, descriptor, libraries)
        state.cr = state.cr._replace(cfunc=entry)
        return True


class Compiler(CompilerBase):
    """The passes from bytecode to LLVM's representation."""

    def define_pipelines(self) -> list[PassManager]:
        """Return the one pipeline."""
        manager = PassManager("internal")
        for step in (
            TranslateByteCode,
            FixupArgs,
            IRProcessing,
            GenericRewrites,  # constant indices of tuples
            ReconstructSSA,
            NopythonTypeInference,
            PreLowerStripPhis,
            Lowering,
            NoPythonBackend,
        ):
            manager.add_pass(step, step.__name__)
        manager.finalize()
        return [manager]


_OPTIONS = {"error_model": "numpy", "no_cfunc_wrapper": True}  # a wrapper for C holds the function's code once more
_INTERNAL = {"pipeline_class": Compiler, "no_cpython_wrapper": True, "_nrt": False}  # no references are counted
kernel = njit(**_OPTIONS, cache=True, nogil=True)
internal = njit(**_OPTIONS, **_INTERNAL)
inline = njit(**_OPTIONS, **_INTERNAL, forceinline=True)  # by LLVM: Numba's own inlining takes twice as long to compile
