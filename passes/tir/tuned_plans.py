"""Plans for a module's kernels from tuning databases, and remarks about them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from ...decisions.choice_file import read_plan
from ...decisions.database import DeviceDriver, RecordSource, Tuning, TuningDatabase, device_label
from ...dialects import cl, tir
from ...messages.printable import printable
from .kernel_key import kernel_key
from .ranked_plans import ranked_plans
from .rules.naive_kernel import NaiveKernel
from .rules.plans import space_of
from .schedule.errors import ScheduleError


@dataclass
class TunedPlans:
    """Gives kernels plans from tuning databases, and collects remarks."""

    database: TuningDatabase
    named: Sequence[str]
    """Databases that the user named."""
    device: DeviceDriver
    target: cl.Target
    _said: list[str]
    measured: dict[tir.FuncOp, float | None] = field(
        default_factory=dict[tir.FuncOp, "float | None"]
    )
    """Microseconds of the plans that were returned."""
    _known: set[bool] = field(default_factory=set[bool])
    """Whether the database has records of each kernel so far (parts of kernels excepted)."""
    _from_others: Counter[str] = field(default_factory=Counter[str])
    """How many plans were measured on other devices, by device."""

    @classmethod
    def read(cls, tuning: Tuning, target: cl.Target) -> TunedPlans:
        """Read databases. Raise CloptError for a mistake in a named one."""
        database = tuning.database(target)
        return cls(database, tuning.tuning, tuning.place, target, list(database.remarks))

    def plan(self, func: tir.FuncOp, default: tir.Plan) -> tir.Plan | None:
        """Return the best plan, or None for the default."""
        is_known, choice = False, None
        if self.database.has("plan", self.target.name):  # computing the key is expensive
            key, text = kernel_key(func), str(tir.PlanAttr(default))
            is_known = bool(self.database.of({"plan": [key]}, self.target.name))
            choice = ranked_plans(self.database, key, self.target, self.device, text)
        if func.part_of is None:
            self._known.add(is_known)
        for record in () if choice is None else choice.faster:
            plan = read_plan(record.choice, record.place)
            try:
                space_of(NaiveKernel(func), plan, self.target)
            except ScheduleError as error:
                self._said.append(f"{record.place}: this record is ignored: {error}")
                continue
            assert choice
            self._note(choice.source)
            self.measured[func] = record.microseconds
            return plan
        return None

    def remarks(self) -> list[str]:
        """Return remarks on plans of other devices, and on ignored databases and records."""
        said = list(self._said)
        has_others = any(
            record.kind != "plan" and record.target == self.target.name
            for record in self.database.records
        )
        if self.named and self._known == {False} and not has_others:
            said.append(
                f"{', '.join(self.named)}: no record matches a kernel of this module for target "
                f"{printable(self.target.name)}."
            )
        for where, count in sorted(self._from_others.items()):
            kernels = "1 kernel has a plan" if count == 1 else f"{count} kernels have plans"
            said.append(f"{kernels} measured {where}; run clopt-tune to measure on this device.")
        return said

    def _note(self, source: RecordSource) -> None:
        if source.device == self.device and source.has_facts:
            return
        self._from_others[device_label(source.device, source.has_facts)] += 1
