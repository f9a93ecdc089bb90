"""Packages with two plans: one that uses a vendor's library, and one of kernels only.

The second is in `<name>.c`, like the only plan of other packages. The first has files of its own,
which do not need the library's header if the macro CLOPT_WITHOUT_... is defined.
"""

from __future__ import annotations

from .c_text import array
from .package_text import Package, fill, fill_text

_ARENAS = "package_arena_sizes"
_BOTH = "both"
_DEFINITIONS = """if(@macro@)
    target_compile_definitions(@name@ PRIVATE @macro@)
endif()
"""


class PackageOfTwo(Package):
    """The files of a package that has two plans; the plan with the library comes first."""

    @property
    def macro(self) -> str:
        """The macro that excludes the library from the build."""
        return f"CLOPT_WITHOUT_{self.suffix.upper()}"

    def texts(self) -> dict[str, str]:
        values = self.first_values()
        file = f"{self.name}_{self.suffix}"
        return super().texts() | {
            f"{file}_plan.c": fill("plan.c.in", values),
            f"{file}_kernels.c": fill("kernels.c.in", values),
            values["kernels_file"]: self.plans[0].source,
        }

    def values(self) -> dict[str, str]:
        """Return the placeholders' values, which partly differ from those of a single plan."""
        offload = self.offload
        assert offload, "the first plan has a library"
        values = super().values()
        program = f"{self.name}_kernels_plan"
        sizes = array(f"static const size_t {_ARENAS}", [f"{size}," for size in self.arenas])
        both = "\n\n/* Arenas that suffice for both plans. */\n" + sizes if sizes else ""
        offload_values = self.offload_values(offload, _BOTH)
        return values | {
            "tables": (values["tables"] + both).rstrip("\n"),
            "info": self.info(self.plan, _ARENAS),
            "plan_info": f"\nstatic const clopt_info plan_info = {{\n{self.info(self.plan)}\n}};\n",
            "storage": f"extern const clopt_program {program};\n\nconst clopt_program {program}",
            "first_plan": f"{self.name}_{self.suffix}_plan",
            "program": self.program(self.plan, "plan_info", f"{self.name}_sources"),
            **offload_values,
            "offload_declarations": (
                f"\n/* The plan that is tried first is in {self.name}_{self.suffix}_plan.c. */\n"
                f"extern const clopt_program {self.name}_{self.suffix}_plan;\n"
            ),
            "offload_definitions": fill_text(
                _DEFINITIONS, {"macro": self.macro, "name": self.name}
            ),
            "offload_need": "",
            "sources": " ".join(
                [
                    offload_values["sources"],
                    f"{self.name}_{self.suffix}_plan.c",
                    f"{self.name}_{self.suffix}_kernels.c",
                ]
            ),
            "library": f"${{{offload.symbol}_or_none}}",
        }

    def first_values(self) -> dict[str, str]:
        """Return the placeholders' values for the files of the first plan."""
        offload, plan = self.offload, self.plans[0]
        assert offload, "the first plan has a library"
        file = f"{self.name}_{self.suffix}"
        sources = f"{file}_sources"
        otherwise = f"&{self.name}_kernels_plan"
        return self.values() | {
            "library_name": offload.library,
            "plan": f"{file}_plan",
            "macro": self.macro,
            "file": file,
            "sources": sources,
            "tables": self.bodies[0].rstrip("\n"),
            "info": self.info(plan),
            "program": self.program(plan, "info", sources, otherwise=otherwise),
            "offload_declarations": self.declarations(offload),
            "kernels": f"#ifndef {self.macro}\n\n{self.kernels(plan, sources)}\n#endif",
            "kernels_file": f"kernels_{self.suffix}.cl",
        }
