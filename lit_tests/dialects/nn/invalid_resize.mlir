// RUN: clopt %s --split-input-file --verify-diagnostics

%a = "test.op"() : () -> tensor<1x4x6xf32>
// expected-error@+1 {{sizes must have 3 entries but has 2}}
%r = nn.resize linear %a {coordinate_mode = #nn<coordinate_mode half_pixel>, scales = array<f64: 1.0, 1.0, 1.0>, sizes = array<i64: 1, 4>} : (tensor<1x4x6xf32>) -> tensor<1x4xf32>

// -----

%a = "test.op"() : () -> tensor<1x4x6xf32>
// expected-error@+1 {{scales [1.0, 1.0, 0.0] must be positive}}
%r = nn.resize linear %a {coordinate_mode = #nn<coordinate_mode half_pixel>, scales = array<f64: 1.0, 1.0, 0.0>, sizes = array<i64: 1, 4, 6>} : (tensor<1x4x6xf32>) -> tensor<1x4x6xf32>

// -----

%a = "test.op"() : () -> tensor<1x4x6xf32>
// expected-error@+1 {{tf_crop_and_resize requires roi}}
%r = nn.resize linear %a {coordinate_mode = #nn<coordinate_mode tf_crop_and_resize>, scales = array<f64: 1.0, 1.0, 1.0>, sizes = array<i64: 1, 4, 6>} : (tensor<1x4x6xf32>) -> tensor<1x4x6xf32>
