// A factor in regions. The check follows loops whose iterations combine tensors
// in parallel. It proves nothing about operations without a description.
// RUN: amp-opt %s --allow-unregistered-dialect --amp-check-loss-scaling --split-input-file --verify-diagnostics -o /dev/null

// An unregistered operation with a region, which might be a symbol table.
func.func @unregistered_region(%a: tensor<4xf32>) -> tensor<4xf32> {
  "toy.x"() ({}) : () -> ()
  return %a : tensor<4xf32>
}

// -----

func.func @combined(%w: tensor<4xf32> {amp.name = "w", amp.role = "parameter"}, %x: tensor<4xf32>, %s: tensor<f32> {amp.name = "s", amp.role = "scaler_state"}) -> (tensor<4xf32> {amp.updates = "w"}) {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  // expected-note @below {{the loss scale enters here}}
  %sc = amp.scale %seed by %s : tensor<f32>
  // expected-note @below {{the factor passes through this 'tensor.extract'}}
  %f = tensor.extract %sc[] : tensor<f32>
  // expected-note @below {{the factor passes through this 'tensor.splat'}}
  %sp = tensor.splat %f : tensor<4xf32>
  // expected-note @below {{the factor passes through this 'arith.mulf'}}
  %g0 = arith.mulf %x, %sp : tensor<4xf32>
  %c0 = arith.constant dense<0.0> : tensor<4xf32>
  %g = scf.forall (%i) in (4) shared_outs(%o = %c0) -> (tensor<4xf32>) {
    %e = tensor.extract_slice %g0[%i] [1] [1] : tensor<4xf32> to tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %e into %o[%i] [1] [1] : tensor<1xf32> into tensor<4xf32>
    }
  }
  %t = math.tanh %g0 : tensor<4xf32> // expected-error {{'math.tanh' op operand 0 is multiplied by s}}
  %new = arith.subf %w, %g : tensor<4xf32>
  return %new : tensor<4xf32>
}

// -----

func.func @combined_update(%w: tensor<4xf32> {amp.name = "w", amp.role = "parameter"}, %x: tensor<4xf32>, %s: tensor<f32> {amp.name = "s", amp.role = "scaler_state"}) -> (tensor<4xf32> {amp.updates = "w"}) {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %sc = amp.scale %seed by %s : tensor<f32>
  %f = tensor.extract %sc[] : tensor<f32>
  %sp = tensor.splat %f : tensor<4xf32>
  %g0 = arith.mulf %x, %sp : tensor<4xf32>
  %c0 = arith.constant dense<0.0> : tensor<4xf32>
  // expected-note @below {{the loss scale enters here}}
  %g = scf.forall (%i) in (4) shared_outs(%o = %c0) -> (tensor<4xf32>) {
    %e = tensor.extract_slice %g0[%i] [1] [1] : tensor<4xf32> to tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %e into %o[%i] [1] [1] : tensor<1xf32> into tensor<4xf32>
    }
  }
  // expected-error @below {{operand 0 is multiplied by 1, but operand 1 by s, expected values with one factor}}
  %new = arith.subf %w, %g : tensor<4xf32>
  return %new : tensor<4xf32>
}

// -----

// A valid step that unscales after the loop.
func.func @combined_unscaled(%w: tensor<4xf32> {amp.name = "w", amp.role = "parameter"}, %x: tensor<4xf32>) -> (tensor<4xf32> {amp.updates = "w"}) {
  %s = arith.constant dense<1024.0> : tensor<f32>
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %sc = amp.scale %seed by %s : tensor<f32>
  %f = tensor.extract %sc[] : tensor<f32>
  %sp = tensor.splat %f : tensor<4xf32>
  %g0 = arith.mulf %x, %sp : tensor<4xf32>
  %c0 = arith.constant dense<0.0> : tensor<4xf32>
  %g = scf.forall (%i) in (4) shared_outs(%o = %c0) -> (tensor<4xf32>) {
    %e = tensor.extract_slice %g0[%i] [1] [1] : tensor<4xf32> to tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %e into %o[%i] [1] [1] : tensor<1xf32> into tensor<4xf32>
    }
  }
  %u, %finite = amp.unscale %g by %s : (tensor<4xf32>) -> (tensor<4xf32>)
  %new = arith.subf %w, %u : tensor<4xf32>
  return %new : tensor<4xf32>
}

// -----

// A reduction with an explicit body.
func.func @reduced(%w: tensor<4xf32> {amp.name = "w", amp.role = "parameter"}, %x: tensor<4xf32>, %s: tensor<f32> {amp.name = "s", amp.role = "scaler_state"}) -> (tensor<4xf32> {amp.updates = "w"}) {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  // expected-note @below {{the loss scale enters here}}
  %sc = amp.scale %seed by %s : tensor<f32>
  // expected-note @below {{the factor passes through this 'tensor.extract'}}
  %f = tensor.extract %sc[] : tensor<f32>
  %i0 = arith.constant 0 : index
  %i1 = arith.constant 1 : index
  %i4 = arith.constant 4 : index
  %z = arith.constant 0.0 : f32
  // expected-error @below {{'scf.parallel' op has an operand that is multiplied by s, and its effect on the factor is unknown}}
  %r = scf.parallel (%i) = (%i0) to (%i4) step (%i1) init (%z) -> f32 {
    %e = tensor.extract %x[%i] : tensor<4xf32>
    %q = arith.mulf %e, %f : f32
    scf.reduce(%q : f32) {
    ^bb0(%a: f32, %b: f32):
      %t = arith.addf %a, %b : f32
      scf.reduce.return %t : f32
    }
  }
  %g = tensor.splat %r : tensor<4xf32>
  %new = arith.subf %w, %g : tensor<4xf32>
  return %new : tensor<4xf32>
}

// -----

// The scale is a constant, and all of it is in the region.
func.func @within(%x: tensor<4xf32>) -> tensor<f32> {
  %s = arith.constant dense<1024.0> : tensor<f32>
  // expected-error @below {{'toy.region' op has a region that uses a loss scale, and its effect on the factor is unknown}}
  %r = "toy.region"() ({
    %seed = amp.gradient_seed "loss" : tensor<f32>
    // expected-note @below {{the loss scale enters here}}
    %sc = amp.scale %seed by %s : tensor<f32>
    "toy.yield"(%sc) : (tensor<f32>) -> ()
  }) : () -> tensor<f32>
  return %r : tensor<f32>
}

// -----

// The check does not follow values that are written to a buffer.
func.func @buffer(%w: tensor<4xf32>, %s: tensor<f32> {amp.name = "s", amp.role = "scaler_state"}) -> tensor<4xf32> {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  // expected-note @below {{the loss scale enters here}}
  %sc = amp.scale %seed by %s : tensor<f32>
  // expected-note @below {{the factor passes through this 'tensor.extract'}}
  %f = tensor.extract %sc[] : tensor<f32>
  %m = memref.alloc() : memref<4xf32>
  // expected-error @below {{it writes to a buffer, and reads what is multiplied by s, expected an operation on tensors}}
  linalg.fill ins(%f : f32) outs(%m : memref<4xf32>)
  %i = arith.constant 0 : index
  %v = memref.load %m[%i] : memref<4xf32>
  %g = tensor.splat %v : tensor<4xf32>
  %new = arith.subf %w, %g : tensor<4xf32>
  return %new : tensor<4xf32>
}
