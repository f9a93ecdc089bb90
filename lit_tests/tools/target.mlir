// RUN: clopt %s --target pocl | filecheck %s
// RUN: clopt --target adreno-740 texture=prefer fp16=false %s | filecheck %s --check-prefix=CHANGED
// RUN: clopt --target=adreno-740,texture=prefer,fp16=false %s | filecheck %s --check-prefix=CHANGED
// RUN: clopt %s --target "adreno-740 texture=prefer fp16=false" | filecheck %s --check-prefix=CHANGED
// RUN: clopt %s --target adreno-740 | clopt --target texture=off | filecheck %s --check-prefix=ADDED
// RUN: not clopt %s --target phone 2>&1 | filecheck %s --check-prefix=UNKNOWN

// CHECK: builtin.module attributes {cl.target = #cl.target<"pocl">} {
// CHANGED: builtin.module attributes {cl.target = #cl.target<"adreno-740"
// CHANGED-SAME: , {fp16 = false, texture = "prefer"}>} {
// ADDED: builtin.module attributes {cl.target = #cl.target<"adreno-740"
// ADDED-SAME: , {texture = "off"}>} {
// UNKNOWN: There is no target "phone"; use one of
func.func @main() {
  func.return
}
