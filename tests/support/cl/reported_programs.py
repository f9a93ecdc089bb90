"""Planned programs whose bytes are counted by hand."""

from __future__ import annotations

from xdsl.parser import Parser

from clopt.context import CloptContext
from clopt.dialects.cl import ProgramOp, Target
from clopt.reports.memory import MemoryReport, memory_report

# 25 floats are 100 bytes; views start at multiples of 128.
BUFFERS = """
cl.kernel @f(memref<10xf32>, memref<25xf32>, memref<25xf32>) outputs [2] global [25] local [1]
cl.kernel @relu(memref<25xf32>, memref<25xf32>) outputs [1] global [25] local [1] in_place [[0, 1]]
cl.kernel @add(memref<25xf32>, memref<25xf32>, memref<25xf32>) outputs [2] global [25] local [1]
cl.program @main(%x: memref<25xf32>, %y: memref<25xf32>, %z: memref<25xf32>) inputs 2 {
  %w = cl.constant "w" : memref<10xf32>
  %arena = cl.arena : memref<300xi8>
  %a = cl.buffer_view %arena[0] : memref<25xf32>
  cl.enqueue_kernel @f(%w, %x, %a) : memref<10xf32>, memref<25xf32>, memref<25xf32>
  %b = cl.buffer_view %arena[128] : memref<25xf32>
  cl.enqueue_kernel @f(%w, %a, %b) : memref<10xf32>, memref<25xf32>, memref<25xf32>
  %row = cl.view %b : memref<25xf32> to memref<5x5xf32>
  %back = cl.view %row : memref<5x5xf32> to memref<25xf32>
  %c = cl.buffer_view %arena[128] : memref<25xf32>
  cl.enqueue_kernel @relu(%back, %c) : memref<25xf32>, memref<25xf32>
  cl.enqueue_kernel @add(%a, %c, %z) : memref<25xf32>, memref<25xf32>, memref<25xf32>
  %d = cl.buffer_view %arena[0] : memref<5xf32>
  %part = cl.view %z[20] : memref<25xf32> to memref<5xf32>
  cl.enqueue_copy %part, %d : memref<5xf32>
  cl.return
}
"""

# Rows of 3 texels are 48 bytes with a pitch of 64: 6 rows take 384, of which 288 are texels.
IMAGE = "memref<6x3x4xf32, #tir.scope<texture, [1]>>"
ARRAY = "memref<2x3x3x4xf32, #tir.scope<texture, [1, 2]>>"
TEXELS = "memref<18x4xf32, #tir.scope<texture, []>>"
IMAGES = f"""
cl.kernel @load(memref<72xf32>, {IMAGE}) outputs [1] global [1] local [1]
cl.kernel @to_array({IMAGE}, {ARRAY}) outputs [1] global [1] local [1]
cl.kernel @array({ARRAY}, {ARRAY}) outputs [1] global [1] local [1]
cl.kernel @to_texels({ARRAY}, {TEXELS}) outputs [1] global [1] local [1]
cl.kernel @store({TEXELS}, {IMAGE}, memref<72xf32>) outputs [2] global [1] local [1]
cl.program @main(%x: memref<72xf32>, %y: memref<72xf32>) inputs 1 {{
  %arena = cl.arena : memref<768xi8>
  %more = cl.arena : memref<288xi8>
  %a = cl.image_view %arena[0] pitch 64 : {IMAGE}
  cl.enqueue_kernel @load(%x, %a) : memref<72xf32>, {IMAGE}
  %p = cl.alloc : {ARRAY}
  cl.enqueue_kernel @to_array(%a, %p) : {IMAGE}, {ARRAY}
  %q = cl.alloc : {ARRAY}
  cl.enqueue_kernel @array(%p, %q) : {ARRAY}, {ARRAY}
  %r = cl.alloc : {ARRAY}
  cl.enqueue_kernel @array(%q, %r) : {ARRAY}, {ARRAY}
  %t = cl.image_view %more[0] : {TEXELS}
  cl.enqueue_kernel @to_texels(%r, %t) : {ARRAY}, {TEXELS}
  %b = cl.image_view %arena[384] pitch 64 : {IMAGE}
  cl.enqueue_kernel @load(%x, %b) : memref<72xf32>, {IMAGE}
  cl.enqueue_kernel @store(%t, %b, %y) : {TEXELS}, {IMAGE}, memref<72xf32>
  cl.enqueue_kernel @to_array(%a, %p) : {IMAGE}, {ARRAY}
  cl.return
}}
"""

UNPLANNED = """
cl.kernel @f(memref<25xf32>, memref<25xf32>) outputs [1] global [25] local [1]
cl.program @main(%x: memref<25xf32>, %y: memref<25xf32>) inputs 1 {
  %a = cl.alloc : memref<25xf32>
  cl.enqueue_kernel @f(%x, %a) : memref<25xf32>, memref<25xf32>
  cl.enqueue_kernel @f(%a, %y) : memref<25xf32>, memref<25xf32>
  cl.return
}
"""


def report(text: str, target: Target | None = None) -> MemoryReport:
    module = Parser(CloptContext(), text).parse_module()
    module.verify()
    program = next(op for op in module.body.block.ops if isinstance(op, ProgramOp))
    return memory_report(program, target or Target())
