// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launches with the same predicate may read the results of a launch with a
// predicate.
//
// RUN: amp-opt %s --split-input-file --verify-diagnostics

#map = affine_map<(d0) -> (d0)>
cuda.program @same arena 1536 {
  %x = cuda.buffer "x" at 0 {role = "batch"} : memref<4xf32>
  %f = cuda.buffer "f" at 256 {role = "batch"} : memref<i1>
  %y = cuda.buffer "y" at 512 {role = "prediction"} : memref<4xf32>
  %a = cuda.buffer "a" at 768 : memref<4xf32>
  cuda.kernel named "write" over [4] maps [#map, #map] {
  ^bb0(%e: f32):
    cuda.yield %e : f32
  } ins(%x : memref<4xf32>) outs(%a : memref<4xf32>) if %f : memref<i1>
  // A result may be written by both.
  cuda.kernel named "always" over [4] maps [#map, #map] {
  ^bb0(%e: f32):
    cuda.yield %e : f32
  } ins(%x : memref<4xf32>) outs(%y : memref<4xf32>)
  cuda.kernel named "read" over [4] maps [#map, #map] {
  ^bb0(%e: f32):
    cuda.yield %e : f32
  } ins(%a : memref<4xf32>) outs(%y : memref<4xf32>) if %f : memref<i1>
  // As there is always something in the buffer, anyone may read.
  cuda.kernel named "both" over [4] maps [#map, #map] {
  ^bb0(%e: f32):
    cuda.yield %e : f32
  } ins(%y : memref<4xf32>) outs(%a : memref<4xf32>)
  cuda.kernel named "last" over [4] maps [#map, #map] {
  ^bb0(%e: f32):
    cuda.yield %e : f32
  } ins(%a : memref<4xf32>) outs(%y : memref<4xf32>)
}

// -----

#map = affine_map<(d0) -> (d0)>
cuda.program @without arena 1024 {
  %x = cuda.buffer "x" at 0 {role = "batch"} : memref<4xf32>
  %f = cuda.buffer "f" at 256 {role = "batch"} : memref<i1>
  %y = cuda.buffer "y" at 512 {role = "prediction"} : memref<4xf32>
  // expected-note@+1 {{'a' holds an intermediate value}}
  %a = cuda.buffer "a" at 768 : memref<4xf32>
  cuda.kernel named "write" over [4] maps [#map, #map] {
  ^bb0(%e: f32):
    cuda.yield %e : f32
  } ins(%x : memref<4xf32>) outs(%a : memref<4xf32>) if %f : memref<i1>
  // expected-error@+1 {{'cuda.kernel' op 'read' reads 'a', which launches before it write only with a predicate, expected the same one}}
  cuda.kernel named "read" over [4] maps [#map, #map] {
  ^bb0(%e: f32):
    cuda.yield %e : f32
  } ins(%a : memref<4xf32>) outs(%y : memref<4xf32>)
}

// -----

#map = affine_map<(d0) -> (d0)>
cuda.program @another arena 1280 {
  %x = cuda.buffer "x" at 0 {role = "batch"} : memref<4xf32>
  %f = cuda.buffer "f" at 256 {role = "batch"} : memref<i1>
  %g = cuda.buffer "g" at 512 {role = "batch"} : memref<i1>
  %s = cuda.buffer "s" at 768 {role = "parameter"} : memref<4xf32>
  // expected-note@+1 {{'a' holds an intermediate value}}
  %a = cuda.buffer "a" at 1024 : memref<4xf32>
  cuda.kernel named "write" over [4] maps [#map, #map] {
  ^bb0(%e: f32):
    cuda.yield %e : f32
  } ins(%x : memref<4xf32>) outs(%a : memref<4xf32>) if %f : memref<i1>
  // expected-error@+1 {{'cuda.kernel' op 'read' reads 'a', which launches before it write only with a predicate, expected the same one}}
  cuda.kernel named "read" over [4] maps [#map, #map] {
  ^bb0(%e: f32):
    cuda.yield %e : f32
  } ins(%a : memref<4xf32>) outs(%s : memref<4xf32>) if %g : memref<i1>
}

// -----

// The flag has another value by then.
#map = affine_map<(d0) -> (d0)>
#none = affine_map<() -> ()>
cuda.program @changed arena 1280 {
  %x = cuda.buffer "x" at 0 {role = "batch"} : memref<4xf32>
  %g = cuda.buffer "g" at 256 {role = "batch"} : memref<i1>
  %f = cuda.buffer "f" at 512 {role = "scaler_state"} : memref<i1>
  %s = cuda.buffer "s" at 768 {role = "parameter"} : memref<4xf32>
  // expected-note@+1 {{'a' holds an intermediate value}}
  %a = cuda.buffer "a" at 1024 : memref<4xf32>
  cuda.kernel named "write" over [4] maps [#map, #map] {
  ^bb0(%e: f32):
    cuda.yield %e : f32
  } ins(%x : memref<4xf32>) outs(%a : memref<4xf32>) if %f : memref<i1>
  cuda.kernel named "change" over [] maps [#none, #none] {
  ^bb0(%e: i1):
    cuda.yield %e : i1
  } ins(%g : memref<i1>) outs(%f : memref<i1>)
  // expected-error@+1 {{'cuda.kernel' op 'read' reads 'a', which launches before it write only with a predicate, expected the same one}}
  cuda.kernel named "read" over [4] maps [#map, #map] {
  ^bb0(%e: f32):
    cuda.yield %e : f32
  } ins(%a : memref<4xf32>) outs(%s : memref<4xf32>) if %f : memref<i1>
}

// -----

// A flag is read for each of its values.
#none = affine_map<() -> ()>
cuda.program @flag arena 768 {
  %f = cuda.buffer "f" at 0 {role = "batch"} : memref<i1>
  %s = cuda.buffer "s" at 256 {role = "parameter"} : memref<i1>
  // expected-note@+1 {{'g' holds an intermediate value}}
  %g = cuda.buffer "g" at 512 : memref<i1>
  cuda.kernel named "write" over [] maps [#none, #none] {
  ^bb0(%e: i1):
    cuda.yield %e : i1
  } ins(%f : memref<i1>) outs(%g : memref<i1>) if %f : memref<i1>
  // expected-error@+1 {{'cuda.kernel' op 'read' reads 'g', which launches before it write only with a predicate, expected the same one}}
  cuda.kernel named "read" over [] maps [#none, #none] {
  ^bb0(%e: i1):
    cuda.yield %e : i1
  } ins(%f : memref<i1>) outs(%s : memref<i1>) if %g : memref<i1>
}

// -----

cuda.program @no_metric arena 256 {
  // expected-error@+1 {{'cuda.buffer' op is a metric that no launch writes}}
  %m = cuda.buffer "loss" at 0 {role = "metric"} : memref<f32>
}

// -----

#map = affine_map<(d0) -> (d0)>
cuda.program @sometimes arena 768 {
  %x = cuda.buffer "x" at 0 {role = "batch"} : memref<4xf32>
  %f = cuda.buffer "f" at 256 {role = "batch"} : memref<i1>
  // expected-error@+1 {{'cuda.buffer' op is a prediction that is written only with a predicate, expected a launch without one}}
  %y = cuda.buffer "y" at 512 {role = "prediction"} : memref<4xf32>
  cuda.kernel named "write" over [4] maps [#map, #map] {
  ^bb0(%e: f32):
    cuda.yield %e : f32
  } ins(%x : memref<4xf32>) outs(%y : memref<4xf32>) if %f : memref<i1>
}
