// RUN: clopt %s -p 'recall-choices{tuning="%S/nn/Inputs/choose_tuned.jsonl" device="A processor" driver="1.0"},verify' --target pocl | filecheck %s
// RUN: clopt %s -p 'recall-choices{tuning="%S/nn/Inputs/choose_tuned.jsonl"},verify' --target nvidia | filecheck %s --check-prefix=OTHER

// The module gets the choices that beat the usual ones on its target, whatever it computes.
// CHECK: cl.recorded = [#cl.choice<"layout", "4aac0287a9838647", #nn.layout<[1 by 8]>, "", []>]
// OTHER-NOT: cl.recorded
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  func.return %x : tensor<4xf32>
}
