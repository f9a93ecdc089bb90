// Finds a handwritten digit on a strip of film: its column, which one it is, and how sure that is.

// The network. It comes from an ONNX model.
func.func private @digits(%image: tensor<1x1x8x8xf32>) -> tensor<1x10xf32>

func.func @find_digit(%film: tensor<16x48xui8>, %step: index) -> (index, index, f32) {
  %zero = arith.constant 0 : index
  %end = arith.constant 33 : index
  %none = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %least_ink = arith.constant 0.1 : f32

  // Ink is bright in the pictures that the network knows.
  %picture = lens.levels %film {gain = 0.003921569 : f32, offset = 0.0 : f32} : (tensor<16x48xui8>) -> tensor<16x48xf32>
  %brightness = lens.mean %picture : (tensor<16x48xf32>) -> f32
  %is_positive = arith.cmpf ogt, %brightness, %half : f32
  %negative = scf.if %is_positive -> (tensor<16x48xf32>) {
    %inverted = lens.levels %picture {gain = -1.0 : f32, offset = 1.0 : f32} : (tensor<16x48xf32>) -> tensor<16x48xf32>
    scf.yield %inverted : tensor<16x48xf32>
  } else {
    scf.yield %picture : tensor<16x48xf32>
  }

  %column, %digit, %chance = scf.for %i = %zero to %end step %step iter_args(%where = %zero, %which = %zero, %best = %none) -> (index, index, f32) {
    %window = lens.crop %negative, %i : (tensor<16x48xf32>, index) -> tensor<16x16xf32>
    %ink = lens.mean %window : (tensor<16x16xf32>) -> f32
    %is_blank = arith.cmpf olt, %ink, %least_ink : f32
    %a, %b, %c = scf.if %is_blank -> (index, index, f32) {
      scf.yield %where, %which, %best : index, index, f32
    } else {
      // clopt computes this part: an image of half the size, and what the network says of it.
      %shape = nn.reshape %window {shape = array<i64: 1, 1, 16, 16>} : (tensor<16x16xf32>) -> tensor<1x1x16x16xf32>
      %box = nn.constant dense<0.25> : tensor<1x1x2x2xf32>
      %small = nn.conv %shape, %box {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} : (tensor<1x1x16x16xf32>, tensor<1x1x2x2xf32>) -> tensor<1x1x8x8xf32>
      %scores = func.call @digits(%small) : (tensor<1x1x8x8xf32>) -> tensor<1x10xf32>
      %chances = nn.softmax %scores {axis = 1 : i64} : (tensor<1x10xf32>) -> tensor<1x10xf32>
      %sure, %place = lens.peak %chances : (tensor<1x10xf32>) -> (f32, index)
      %is_better = arith.cmpf ogt, %sure, %best : f32
      %d = arith.select %is_better, %i, %where : index
      %e = arith.select %is_better, %place, %which : index
      %f = arith.select %is_better, %sure, %best : f32
      scf.yield %d, %e, %f : index, index, f32
    }
    scf.yield %a, %b, %c : index, index, f32
  }
  func.return %column, %digit, %chance : index, index, f32
}
