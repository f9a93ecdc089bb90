// RUN: clopt %s | clopt | filecheck %s
// RUN: clopt %s --print-op-generic | clopt | filecheck %s

%x0 = "test.op"() : () -> tensor<2x6x9x11xf32>

// CHECK: %0 = nn.resize nearest %x0 {coordinate_mode = #nn<coordinate_mode half_pixel>, scales = array<f64: 1.000000e+00, 1.000000e+00, 2.000000e+00, 2.000000e+00>, sizes = array<i64: 2, 6, 18, 22>} : (tensor<2x6x9x11xf32>) -> tensor<2x6x18x22xf32>
%0 = nn.resize nearest %x0 {coordinate_mode = #nn<coordinate_mode half_pixel>, scales = array<f64: 1.000000e+00, 1.000000e+00, 2.000000e+00, 2.000000e+00>, sizes = array<i64: 2, 6, 18, 22>} : (tensor<2x6x9x11xf32>) -> tensor<2x6x18x22xf32>

// CHECK-NEXT: %1 = nn.resize cubic %x0 {coordinate_mode = #nn<coordinate_mode tf_crop_and_resize>, cubic_coeff_a = -5.000000e-01 : f64, exclude_outside, extrapolation_value = 1.000000e+01 : f64, scales = array<f64: 1.000000e+00, 1.000000e+00, 0.55555555555555558, 0.45454545454545453>, roi = array<f64: 0.000000e+00, 0.000000e+00, 2.500000e-01, 2.500000e-01, 1.000000e+00, 1.000000e+00, 7.500000e-01, 7.500000e-01>, sizes = array<i64: 2, 6, 5, 5>} : (tensor<2x6x9x11xf32>) -> tensor<2x6x5x5xf32>
%1 = nn.resize cubic %x0 {coordinate_mode = #nn<coordinate_mode tf_crop_and_resize>, cubic_coeff_a = -5.000000e-01 : f64, exclude_outside, extrapolation_value = 1.000000e+01 : f64, scales = array<f64: 1.000000e+00, 1.000000e+00, 0.55555555555555558, 0.45454545454545453>, roi = array<f64: 0.000000e+00, 0.000000e+00, 2.500000e-01, 2.500000e-01, 1.000000e+00, 1.000000e+00, 7.500000e-01, 7.500000e-01>, sizes = array<i64: 2, 6, 5, 5>} : (tensor<2x6x9x11xf32>) -> tensor<2x6x5x5xf32>
