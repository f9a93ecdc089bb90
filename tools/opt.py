"""`clopt`: run passes on a module and print the result.

It is an `mlir-opt` for clopt's dialects: it reads MLIR text or an ONNX model, runs the pipeline of
`-p`, and prints MLIR or OpenCL C. A mistake in the input is one sentence on stderr and exit code 1.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import IO, NamedTuple

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass, PassPipeline
from xdsl.utils.exceptions import DiagnosticException, ShrinkException, VerifyException
from xdsl.xdsl_opt_main import xDSLOptMain

from ..context import CloptContext, explaining
from ..dialects.cl.target_attr import abbreviated_target
from ..dialects.remarks import remarks_of
from ..errors import CloptError
from ..formats import foreign_formats
from ..messages.explanations import Show, plans_of, tables
from ..messages.open_dimensions import for_options
from ..messages.source import Source, SourceError, SourceModule
from ..passes.pipeline_text import parse_passes
from ..universe import frontend, with_all_packages
from ..weights import Weights
from .console import (
    MODEL_OPTIONS,
    STDIN,
    common_options,
    example_text,
    full_text,
    gather_target,
    is_onnx,
    print_remarks,
    read_bytes,
    user_errors,
    write_user_file,
)
from .expectations import Diagnostic, check
from .foreign import blame, is_ours, xdsl_switches_restored
from .instrument import PassInstrument, print_times
from .ir_diff import IRDiff
from .ir_text import elide
from .logs import progress
from .mistakes import suggest_options
from .opt_options import OPTIONS
from .option_values import parse_bytes, parse_dims
from .pipeline import print_passes

SPLIT = "// -----"
TEXTS = ("mlir", "linalg")
"""The frontends of text that xDSL parses."""
DESCRIPTION = (
    "Run passes over MLIR text or an ONNX model, a file or stdin (-); print MLIR or OpenCL C."
)
EXAMPLES = """\
clopt model.onnx --dim batch=1 -p simplify,fuse
clopt model.onnx --target adreno-740 texture=prefer -p opencl -t opencl-c
clopt model.onnx -p opencl --print-ir-after=nn-fuse --elide-larger-than 8
clopt model.onnx -p simplify | clopt - -p fuse,lower
clopt test.mlir --split-input-file --verify-diagnostics
"""


class _Piece(NamedTuple):
    """A part of the input that is compiled separately."""

    frontend: str
    source: Source
    content: bytes
    instrument: PassInstrument


class CloptMain(xDSLOptMain):
    """xDSL's driver with clopt's universe, ONNX input, diagnostics and instrumentation."""

    context: CloptContext

    def register_all_dialects(self) -> None:
        self.ctx = self.context = CloptContext.with_all_packages()

    def register_all_frontends(self) -> None:
        super().register_all_frontends()
        # Accepts linalg as text, too, which `_read` converts to networks.
        self.available_frontends["linalg"] = self.available_frontends["mlir"]
        for name in ("onnx", *foreign_formats()):
            self.available_frontends[name] = partial(self._import, name)

    def register_all_passes(self) -> None:
        self.available_passes |= with_all_packages().all_passes

    def register_all_targets(self) -> None:
        self.available_targets |= with_all_packages().all_targets

    def register_all_arguments(self, arg_parser: argparse.ArgumentParser) -> None:
        # xDSL's `-t/--target` selects the output language; clopt's `--target` selects the device.
        super().register_all_arguments(arg_parser)
        suggest_options(arg_parser)
        arg_parser.prog, arg_parser.epilog = "clopt", example_text(EXAMPLES)
        arg_parser.formatter_class = argparse.RawDescriptionHelpFormatter
        group = arg_parser.add_argument_group("clopt", conflict_handler="resolve")
        for flags, settings in OPTIONS + MODEL_OPTIONS + common_options("clopt"):
            group.add_argument(*flags, **settings)

    def setup_pipeline(self) -> None:
        self._memory_limit = parse_bytes("--memory-limit", self.args.memory_limit)
        passes = parse_passes(self.args.passes, self.available_passes, "-p")
        self._shown: list[Show] = [tables] if self.args.explain else []
        if self.args.explain_plan:
            if "tir-choose-plan" not in {each.name for each in passes}:
                raise CloptError("--explain-plan: tir-choose-plan is not in the pipeline.")
            self._shown.append(plans_of)
        if self.args.tuning is not None:
            passes = _tuned(passes, self.args.tuning)
        self.pipeline = PassPipeline(passes)
        for name in self.args.print_ir_after:
            if name not in {p.name for p in passes}:
                raise CloptError(f"--print-ir-after={name}: this pass is not in the pipeline.")

    def run(self) -> None:
        """Compile every piece of the input; exit with code 1 if a piece had an error."""
        if self.args.list_passes:
            return print_passes(self.available_passes, self.args.json)
        if self.args.list_rules:
            from .rules import print_rules

            return print_rules(self.args.json)
        if self.args.json:
            raise CloptError(
                "--json goes with --list-passes and --list-rules; -t description prints a program."
            )
        if self.args.weights:
            self.context.weights = Weights.load(self.args.weights)
        texts: list[str] = []
        complaints: list[str] = []
        pieces = self._pieces()
        for piece in pieces:
            diagnostics: list[Diagnostic] = []
            try:
                with self._progress(piece):
                    texts.append(self._compile(piece, diagnostics))
            except SourceError as error:
                diagnostics.append(
                    Diagnostic("error", error.line, error.sentence, full_text(error))
                )
            if self.args.verify_diagnostics:
                complaints += check(piece.source, diagnostics)
                continue
            print_remarks([d.sentence for d in diagnostics if d.kind == "remark"])
            complaints += [d.shown for d in diagnostics if d.kind == "error"]
        for complaint in complaints:
            print(f"clopt: {complaint}", file=sys.stderr)
        if self.args.time_passes:
            print_times([row for piece in pieces for row in piece.instrument.times])
        self._write(f"{SPLIT}\n".join(texts), bool(complaints))
        if complaints:
            sys.exit(1)

    def _progress(self, piece: _Piece) -> AbstractContextManager[None]:
        args = self.args
        if args.print_ir_after_all or args.print_ir_after or args.diff_ir or self._shown:
            return nullcontext()  # a spinner would break the long lines of their output
        return progress(f"compiling {Path(piece.source.name).name}")

    def _pieces(self) -> list[_Piece]:
        name = self._file or "<stdin>"
        content = read_bytes(self._file)
        frontend = self._frontend(content)
        if frontend not in TEXTS:
            return [_Piece(frontend, Source(name), content, self._instrument(""))]
        # Split bytes, as xDSL does, so that a piece that is not UTF-8 does not affect the others.
        parts = content.split(SPLIT.encode()) if self.args.split_input_file else [content]
        pieces: list[_Piece] = []
        line = 0
        for index, part in enumerate(parts, 1):
            source = Source(name, part.decode(errors="replace"), line)
            folder = str(index) if len(parts) > 1 else ""
            pieces.append(_Piece(frontend, source, part, self._instrument(folder)))
            line += part.count(b"\n")
        return pieces

    def _instrument(self, folder: str) -> PassInstrument:
        return PassInstrument(
            verify=not self.args.disable_verify,
            print_after=None
            if self.args.print_ir_after_all
            else frozenset(self.args.print_ir_after),
            dump_dir=Path(self.args.dump_dir, folder) if self.args.dump_dir else None,
            elide_larger_than=self.args.elide_larger_than,
            diff=IRDiff(self.args.elide_larger_than) if self.args.diff_ir else None,
        )

    @property
    def _file(self) -> str | None:
        """The path of the input; None for stdin."""
        return None if self.args.input_file == STDIN else self.args.input_file

    def _frontend(self, content: bytes) -> str:
        file = self._file
        suffix = Path(file).suffix if file else ".onnx" if is_onnx(content) else ".mlir"
        kind = self.args.frontend or suffix.removeprefix(".")
        if kind not in self.available_frontends:
            # linalg is text in .mlir files, too.
            suffixes = [f".{name}" for name in self.available_frontends if name != "linalg"]
            known = " and ".join(suffixes)
            raise CloptError(f"{file}: clopt reads {known} files; name the format with -f.")
        if kind in TEXTS and self.args.dim:
            raise CloptError(f"{file or '<stdin>'}: --dim binds dimensions of ONNX models only.")
        return kind

    def _import(self, name: str, stream: IO[bytes]) -> ModuleOp:
        # Pass the path if there is one, because external data lies beside the model.
        model = Path(self._file) if self._file else stream.read()
        return frontend(name)(model, self.context.weights, parse_dims(self.args.dim))

    def _read(self, piece: _Piece) -> SourceModule:
        if piece.frontend in TEXTS:
            implicit = not self.args.no_implicit_module
            read = SourceModule.parse(self.ctx, piece.source, implicit)
            if piece.frontend == "mlir":
                return read
            read.verify()
            module = frontend(piece.frontend)(read, self.context.weights)
            return SourceModule(module, piece.source)
        try:
            module = self.available_frontends[piece.frontend](BytesIO(piece.content))
        except CloptError as error:
            message = for_options(error).removeprefix(f"{piece.source.name}: ")
            raise SourceError(piece.source, None, message) from error
        return SourceModule(module, piece.source)

    def _compile(self, piece: _Piece, diagnostics: list[Diagnostic]) -> str:
        """Return the output for a piece of the input; add its passes' remarks to `diagnostics`."""
        with piece.instrument.timed("read"):
            source = self._read(piece)
            if not self.args.disable_verify:
                source.verify()
        from ..passes.pipelines import apply_within

        module = source.module
        known = remarks_of(module)
        self._set_target(module, piece.source)
        self._demand_choices(module)
        try:
            explained = explaining(self.context, *self._shown) if self._shown else nullcontext()
            with explained:
                apply_within(
                    self.context,
                    module,
                    self.pipeline.passes,
                    self._memory_limit,
                    piece.instrument,
                )
            self._remark_choices(module)
            for remark in remarks_of(module)[len(known) :]:
                shown = f"{piece.source.name}: {remark}"
                diagnostics.append(Diagnostic("remark", None, remark, shown))
            with piece.instrument.timed("print"):
                return self._print(module)
        except ShrinkException:
            print("Success, can shrink")
            sys.exit(0)
        except (CloptError, DiagnosticException) as error:
            broken = isinstance(error, VerifyException)
            found = source.locate(error) if broken else SourceError(piece.source, None, str(error))
            raise found.during(piece.instrument.stage) from error
        except Exception as error:
            running = piece.instrument.running
            if running is None or is_ours(running):
                raise
            raise blame(running, error) from None

    def _set_target(self, module: ModuleOp, source: Source) -> None:
        """Set the target that the user names, or check the accelerators' facts of the module's."""
        from ..dialects.cl.target_attr import ATTRIBUTE_NAME, set_target, target_of
        from ..targets import TargetChoice, change_facts

        if self.args.device_target:
            choice = TargetChoice.parse(self.args.device_target)
            set_target(module, choice.load() or choice.change(target_of(module)))
        elif ATTRIBUTE_NAME in module.attributes:
            try:
                change_facts(target_of(module), {})
            except CloptError as error:
                raise SourceError(source, None, str(error)) from error

    def _demand_choices(self, module: ModuleOp) -> None:
        """Demand the choices of a file; let passes note theirs if the output asks for them."""
        from ..decisions.choice_file import read_choices
        from ..decisions.choices import choices_of, demand
        from ..reports.choices import ChoicesTarget

        if self.args.choices is not None:
            demand(module, read_choices(Path(self.args.choices)))
        elif self.args.target == ChoicesTarget.name:
            demand(module, choices_of(module) or [])

    def _remark_choices(self, module: ModuleOp) -> None:
        from ..decisions.choices import remark_unmatched

        if self.args.choices is not None:
            remark_unmatched(module, self.args.choices)

    def _print(self, module: ModuleOp) -> str:
        if self.args.target != "mlir":
            return self.output_resulting_program(module)
        with abbreviated_target(module):
            text = self.output_resulting_program(module).rstrip("\n") + "\n"
        limit = self.args.elide_larger_than
        return text if limit is None else elide(text, limit)

    def _write(self, text: str, failed: bool) -> None:
        if self.args.save_weights and not failed:
            self.context.weights.save(self.args.save_weights)
        if self.args.output_file is None:
            sys.stdout.write(text)
        elif not failed:
            write_user_file(self.args.output_file, text)
        if self.args.shrink:
            print("Failure, can't shrink")
            sys.exit(1)


def _tuned(passes: Sequence[ModulePass], database: str) -> tuple[ModulePass, ...]:
    """Return the passes with a tuning database, after one that recalls its choices."""
    from ..passes.recall_choices import RecallChoicesPass
    from ..passes.tir.choose_plan import TIRChoosePlanPass

    tuned = (
        replace(each, tuning=(database,)) if isinstance(each, TIRChoosePlanPass) else each
        for each in passes
    )
    return RecallChoicesPass((database,)), *tuned


def main(args: Sequence[str] | None = None) -> None:
    """Run `clopt` with `args`, or with the arguments of the process."""
    with user_errors("clopt"), xdsl_switches_restored():
        CloptMain(DESCRIPTION, gather_target(args)).run()


if __name__ == "__main__":
    main()
