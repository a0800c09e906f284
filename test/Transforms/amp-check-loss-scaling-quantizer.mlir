// The check of quantisers whose scales follow the magnitudes of earlier steps:
// each step enters the magnitude of a tensor once into its own history, after
// all uses of the scale.
// RUN: amp-opt %s --amp-check-loss-scaling --split-input-file --verify-diagnostics -o /dev/null

// Under a loss scale, the state holds the magnitude without it.
func.func @right(
    %g: tensor<4x8xf32>, %loss_scale: tensor<f32> {amp.name = "loss_scale"},
    %s: tensor<f32> {amp.role = "quantizer_state", amp.name = "s"},
    %h: tensor<4xf32> {amp.role = "quantizer_state", amp.name = "h"},
    %frozen: tensor<f32> {amp.role = "quantizer_state", amp.name = "frozen"})
    -> (tensor<4x8xf32>, tensor<f32> {amp.updates = "s"}, tensor<4xf32> {amp.updates = "h"}, tensor<f32> {amp.updates = "frozen"}) {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %scaled = amp.scale %seed by %loss_scale : tensor<f32>
  %d = train.mul %g, %scaled : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %used = arith.divf %s, %loss_scale : tensor<f32>
  %q = amp.quantize %d by %used saturate {keep_non_finite} : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf8E5M2>
  %w = amp.dequantize %q by %used : (tensor<4x8xf8E5M2>, tensor<f32>) -> tensor<4x8xf32>
  %a = amp.amax %d : tensor<4x8xf32> -> tensor<f32>
  %m = arith.divf %a, %loss_scale : tensor<f32>
  %u, %f = amp.unscale %w by %loss_scale : (tensor<4x8xf32>) -> (tensor<4x8xf32>)
  %s1, %h1 = amp.update_quantizer %s, %h, %m for f8E5M2 : tensor<4xf32>
  return %u, %s1, %h1, %frozen : tensor<4x8xf32>, tensor<f32>, tensor<4xf32>, tensor<f32>
}

// -----

// A block that is computed again quantises the same tensor.
func.func @recomputed(
    %x: tensor<4x8xf32>,
    %s: tensor<f32> {amp.role = "quantizer_state", amp.name = "s"},
    %h: tensor<4xf32> {amp.role = "quantizer_state", amp.name = "h"})
    -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32> {amp.updates = "s"}, tensor<4xf32> {amp.updates = "h"}) {
  %r = train.relu %x : tensor<4x8xf32>
  %q = amp.quantize %r by %s saturate : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf8E4M3FN>
  %a = amp.amax %r : tensor<4x8xf32> -> tensor<f32>
  %again = train.relu %x : tensor<4x8xf32>
  %p = amp.quantize %again by %s saturate : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf8E4M3FN>
  %s1, %h1 = amp.update_quantizer %s, %h, %a for f8E4M3FN : tensor<4xf32>
  %qf = amp.dequantize %q by %s : (tensor<4x8xf8E4M3FN>, tensor<f32>) -> tensor<4x8xf32>
  %pf = amp.dequantize %p by %s : (tensor<4x8xf8E4M3FN>, tensor<f32>) -> tensor<4x8xf32>
  return %qf, %pf, %s1, %h1 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>, tensor<4xf32>
}

// -----

func.func @two(
    %x: tensor<4x8xf32>, %y: tensor<4x8xf32>,
    %s: tensor<f32> {amp.role = "quantizer_state", amp.name = "s"},
    %h: tensor<4xf32> {amp.role = "quantizer_state", amp.name = "h"},
    %t: tensor<f32> {amp.role = "quantizer_state", amp.name = "t"},
    %k: tensor<4xf32> {amp.role = "quantizer_state", amp.name = "k"})
    -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32> {amp.updates = "s"}, tensor<4xf32> {amp.updates = "h"}, tensor<f32> {amp.updates = "t"}, tensor<4xf32> {amp.updates = "k"}) {
  %q = amp.quantize %x by %s saturate : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf8E4M3FN>
  %p = amp.quantize %y by %t saturate : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf8E4M3FN>
  %a = amp.amax %x : tensor<4x8xf32> -> tensor<f32>
  %b = amp.amax %y : tensor<4x8xf32> -> tensor<f32>
  %xd = amp.dequantize %q by %s : (tensor<4x8xf8E4M3FN>, tensor<f32>) -> tensor<4x8xf32>
  %yd = amp.dequantize %p by %t : (tensor<4x8xf8E4M3FN>, tensor<f32>) -> tensor<4x8xf32>
  %s1, %h1 = amp.update_quantizer %s, %h, %a for f8E4M3FN : tensor<4xf32>
  %t1, %k1 = amp.update_quantizer %t, %k, %b for f8E4M3FN : tensor<4xf32>
  return %xd, %yd, %s1, %h1, %t1, %k1 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>, tensor<4xf32>, tensor<f32>, tensor<4xf32>
}

// -----

func.func @history_written_twice(
    %x: tensor<4x8xf32>, %y: tensor<4x8xf32>,
    %s: tensor<f32> {amp.role = "quantizer_state", amp.name = "s"},
    %h: tensor<4xf32> {amp.role = "quantizer_state", amp.name = "h"},
    %t: tensor<f32> {amp.role = "quantizer_state", amp.name = "t"},
    %k: tensor<4xf32> {amp.role = "quantizer_state", amp.name = "k"})
    -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32> {amp.updates = "s"}, tensor<4xf32> {amp.updates = "h"}, tensor<f32> {amp.updates = "t"}, tensor<4xf32> {amp.updates = "k"}) {
  %q = amp.quantize %x by %s saturate : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf8E4M3FN>
  %p = amp.quantize %y by %t saturate : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf8E4M3FN>
  %a = amp.amax %x : tensor<4x8xf32> -> tensor<f32>
  %b = amp.amax %y : tensor<4x8xf32> -> tensor<f32>
  %xd = amp.dequantize %q by %s : (tensor<4x8xf8E4M3FN>, tensor<f32>) -> tensor<4x8xf32>
  %yd = amp.dequantize %p by %t : (tensor<4x8xf8E4M3FN>, tensor<f32>) -> tensor<4x8xf32>
  // expected-note @below {{it is written here too}}
  %s1, %h1 = amp.update_quantizer %s, %h, %a for f8E4M3FN : tensor<4xf32>
  // expected-error @below {{writes the history 'h', expected one update in each step}}
  %t1, %k1 = amp.update_quantizer %t, %h, %b for f8E4M3FN : tensor<4xf32>
  return %xd, %yd, %s1, %h1, %t1, %k1 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>, tensor<4xf32>, tensor<f32>, tensor<4xf32>
}

// -----

func.func @scale_written_twice(
    %x: tensor<4x8xf32>, %y: tensor<4x8xf32>,
    %s: tensor<f32> {amp.role = "quantizer_state", amp.name = "s"},
    %h: tensor<4xf32> {amp.role = "quantizer_state", amp.name = "h"},
    %t: tensor<f32> {amp.role = "quantizer_state", amp.name = "t"},
    %k: tensor<4xf32> {amp.role = "quantizer_state", amp.name = "k"})
    -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32> {amp.updates = "s"}, tensor<4xf32> {amp.updates = "h"}, tensor<f32> {amp.updates = "t"}, tensor<4xf32> {amp.updates = "k"}) {
  %q = amp.quantize %x by %s saturate : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf8E4M3FN>
  %p = amp.quantize %y by %t saturate : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf8E4M3FN>
  %a = amp.amax %x : tensor<4x8xf32> -> tensor<f32>
  %b = amp.amax %y : tensor<4x8xf32> -> tensor<f32>
  %xd = amp.dequantize %q by %s : (tensor<4x8xf8E4M3FN>, tensor<f32>) -> tensor<4x8xf32>
  %yd = amp.dequantize %p by %t : (tensor<4x8xf8E4M3FN>, tensor<f32>) -> tensor<4x8xf32>
  // expected-note @below {{it is written here too}}
  %s1, %h1 = amp.update_quantizer %s, %h, %a for f8E4M3FN : tensor<4xf32>
  // expected-error @below {{writes the scale 's', expected one update in each step}}
  %t1, %k1 = amp.update_quantizer %s, %k, %b for f8E4M3FN : tensor<4xf32>
  return %xd, %yd, %s1, %h1, %t1, %k1 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>, tensor<4xf32>, tensor<f32>, tensor<4xf32>
}

// -----

func.func @exchanged_results(
    %x: tensor<4x8xf32>, %y: tensor<4x8xf32>,
    %s: tensor<f32> {amp.role = "quantizer_state", amp.name = "s"},
    %h: tensor<4xf32> {amp.role = "quantizer_state", amp.name = "h"},
    %t: tensor<f32> {amp.role = "quantizer_state", amp.name = "t"},
    %k: tensor<4xf32> {amp.role = "quantizer_state", amp.name = "k"})
    -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32> {amp.updates = "s"}, tensor<4xf32> {amp.updates = "h"}, tensor<f32> {amp.updates = "t"}, tensor<4xf32> {amp.updates = "k"}) {
  %q = amp.quantize %x by %s saturate : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf8E4M3FN>
  %p = amp.quantize %y by %t saturate : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf8E4M3FN>
  %a = amp.amax %x : tensor<4x8xf32> -> tensor<f32>
  %b = amp.amax %y : tensor<4x8xf32> -> tensor<f32>
  %xd = amp.dequantize %q by %s : (tensor<4x8xf8E4M3FN>, tensor<f32>) -> tensor<4x8xf32>
  %yd = amp.dequantize %p by %t : (tensor<4x8xf8E4M3FN>, tensor<f32>) -> tensor<4x8xf32>
  // expected-error @below {{gives the new scale of 's', which leaves the step as another value, expected it to update 's' alone}}
  %s1, %h1 = amp.update_quantizer %s, %h, %a for f8E4M3FN : tensor<4xf32>
  // expected-error @below {{gives the new scale of 't', which leaves the step as another value, expected it to update 't' alone}}
  %t1, %k1 = amp.update_quantizer %t, %k, %b for f8E4M3FN : tensor<4xf32>
  return %xd, %yd, %t1, %h1, %s1, %k1 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>, tensor<4xf32>, tensor<f32>, tensor<4xf32>
}

// -----

func.func @exchanged_histories(
    %x: tensor<4x8xf32>, %y: tensor<4x8xf32>,
    %s: tensor<f32> {amp.role = "quantizer_state", amp.name = "s"},
    %h: tensor<4xf32> {amp.role = "quantizer_state", amp.name = "h"},
    %t: tensor<f32> {amp.role = "quantizer_state", amp.name = "t"},
    %k: tensor<4xf32> {amp.role = "quantizer_state", amp.name = "k"})
    -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32> {amp.updates = "s"}, tensor<4xf32> {amp.updates = "h"}, tensor<f32> {amp.updates = "t"}, tensor<4xf32> {amp.updates = "k"}) {
  %q = amp.quantize %x by %s saturate : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf8E4M3FN>
  %p = amp.quantize %y by %t saturate : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf8E4M3FN>
  %a = amp.amax %x : tensor<4x8xf32> -> tensor<f32>
  %b = amp.amax %y : tensor<4x8xf32> -> tensor<f32>
  %xd = amp.dequantize %q by %s : (tensor<4x8xf8E4M3FN>, tensor<f32>) -> tensor<4x8xf32>
  %yd = amp.dequantize %p by %t : (tensor<4x8xf8E4M3FN>, tensor<f32>) -> tensor<4x8xf32>
  // expected-error @below {{gives the new history of 'h', which leaves the step as another value, expected it to update 'h' alone}}
  %s1, %h1 = amp.update_quantizer %s, %h, %a for f8E4M3FN : tensor<4xf32>
  // expected-error @below {{gives the new history of 'k', which leaves the step as another value, expected it to update 'k' alone}}
  %t1, %k1 = amp.update_quantizer %t, %k, %b for f8E4M3FN : tensor<4xf32>
  return %xd, %yd, %s1, %k1, %t1, %h1 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>, tensor<4xf32>, tensor<f32>, tensor<4xf32>
}

// -----

func.func @exchanged_magnitudes(
    %x: tensor<4x8xf32>, %y: tensor<4x8xf32>,
    %s: tensor<f32> {amp.role = "quantizer_state", amp.name = "s"},
    %h: tensor<4xf32> {amp.role = "quantizer_state", amp.name = "h"},
    %t: tensor<f32> {amp.role = "quantizer_state", amp.name = "t"},
    %k: tensor<4xf32> {amp.role = "quantizer_state", amp.name = "k"})
    -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32> {amp.updates = "s"}, tensor<4xf32> {amp.updates = "h"}, tensor<f32> {amp.updates = "t"}, tensor<4xf32> {amp.updates = "k"}) {
  // expected-error @below {{multiplies a tensor by the scale 's', whose history gets the magnitude of another tensor}}
  %q = amp.quantize %x by %s saturate : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf8E4M3FN>
  // expected-error @below {{multiplies a tensor by the scale 't', whose history gets the magnitude of another tensor}}
  %p = amp.quantize %y by %t saturate : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf8E4M3FN>
  // expected-note @below {{the magnitude is computed here}}
  %a = amp.amax %x : tensor<4x8xf32> -> tensor<f32>
  // expected-note @below {{the magnitude is computed here}}
  %b = amp.amax %y : tensor<4x8xf32> -> tensor<f32>
  %xd = amp.dequantize %q by %s : (tensor<4x8xf8E4M3FN>, tensor<f32>) -> tensor<4x8xf32>
  %yd = amp.dequantize %p by %t : (tensor<4x8xf8E4M3FN>, tensor<f32>) -> tensor<4x8xf32>
  %s1, %h1 = amp.update_quantizer %s, %h, %b for f8E4M3FN : tensor<4xf32>
  %t1, %k1 = amp.update_quantizer %t, %k, %a for f8E4M3FN : tensor<4xf32>
  return %xd, %yd, %s1, %h1, %t1, %k1 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>, tensor<4xf32>, tensor<f32>, tensor<4xf32>
}

// -----

// The history is written before its last read.
func.func @early(
    %x: tensor<4x8xf32>, %y: tensor<4x8xf32>,
    %s: tensor<f32> {amp.role = "quantizer_state", amp.name = "s"},
    %h: tensor<4xf32> {amp.role = "quantizer_state", amp.name = "h"},
    %t: tensor<f32> {amp.role = "quantizer_state", amp.name = "t"},
    %k: tensor<4xf32> {amp.role = "quantizer_state", amp.name = "k"})
    -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32> {amp.updates = "s"}, tensor<4xf32> {amp.updates = "h"}, tensor<f32> {amp.updates = "t"}, tensor<4xf32> {amp.updates = "k"}) {
  %a = amp.amax %x : tensor<4x8xf32> -> tensor<f32>
  %b = amp.amax %y : tensor<4x8xf32> -> tensor<f32>
  %s1, %h1 = amp.update_quantizer %s, %h, %a for f8E4M3FN : tensor<4xf32>
  %q = amp.quantize %x by %s1 saturate : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf8E4M3FN>
  %p = amp.quantize %y by %t saturate : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf8E4M3FN>
  // expected-error @below {{reads the new scale of 's', expected the one with which the step began}}
  %xd = amp.dequantize %q by %s1 : (tensor<4x8xf8E4M3FN>, tensor<f32>) -> tensor<4x8xf32>
  %yd = amp.dequantize %p by %t : (tensor<4x8xf8E4M3FN>, tensor<f32>) -> tensor<4x8xf32>
  %t1, %k1 = amp.update_quantizer %t, %k, %b for f8E4M3FN : tensor<4xf32>
  return %xd, %yd, %s1, %h1, %t1, %k1 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>, tensor<4xf32>, tensor<f32>, tensor<4xf32>
}

// -----

func.func @lost_scale(
    %x: tensor<4x8xf32>, %y: tensor<4x8xf32>,
    %s: tensor<f32> {amp.role = "quantizer_state", amp.name = "s"},
    %h: tensor<4xf32> {amp.role = "quantizer_state", amp.name = "h"},
    %t: tensor<f32> {amp.role = "quantizer_state", amp.name = "t"},
    %k: tensor<4xf32> {amp.role = "quantizer_state", amp.name = "k"})
    -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32> {amp.updates = "s"}, tensor<4xf32> {amp.updates = "h"}, tensor<f32> {amp.updates = "t"}, tensor<4xf32> {amp.updates = "k"}) {
  %q = amp.quantize %x by %s saturate : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf8E4M3FN>
  %p = amp.quantize %y by %t saturate : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf8E4M3FN>
  %a = amp.amax %x : tensor<4x8xf32> -> tensor<f32>
  %b = amp.amax %y : tensor<4x8xf32> -> tensor<f32>
  %xd = amp.dequantize %q by %s : (tensor<4x8xf8E4M3FN>, tensor<f32>) -> tensor<4x8xf32>
  %yd = amp.dequantize %p by %t : (tensor<4x8xf8E4M3FN>, tensor<f32>) -> tensor<4x8xf32>
  // expected-error @below {{gives a new scale of 's', expected a result of the step with 'amp.updates' that names it}}
  %s1, %h1 = amp.update_quantizer %s, %h, %a for f8E4M3FN : tensor<4xf32>
  %t1, %k1 = amp.update_quantizer %t, %k, %b for f8E4M3FN : tensor<4xf32>
  return %xd, %yd, %s, %h1, %t1, %k1 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>, tensor<4xf32>, tensor<f32>, tensor<4xf32>
}

// -----

func.func @argument_is_not_state(
    %x: tensor<4x8xf32>, %y: tensor<4x8xf32>,
    %s: tensor<f32> {amp.role = "quantizer_state", amp.name = "s"},
    %h: tensor<4xf32> {amp.role = "quantizer_state", amp.name = "h"},
    %t: tensor<f32> {amp.role = "quantizer_state", amp.name = "t"},
    %k: tensor<4xf32> {amp.role = "quantizer_state", amp.name = "k"})
    -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32> {amp.updates = "s"}, tensor<4xf32> {amp.updates = "h"}, tensor<f32> {amp.updates = "t"}, tensor<4xf32> {amp.updates = "k"}) {
  %q = amp.quantize %x by %s saturate : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf8E4M3FN>
  %p = amp.quantize %y by %t saturate : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf8E4M3FN>
  %a = amp.amax %x : tensor<4x8xf32> -> tensor<f32>
  %b = amp.amax %y : tensor<4x8xf32> -> tensor<f32>
  %xd = amp.dequantize %q by %s : (tensor<4x8xf8E4M3FN>, tensor<f32>) -> tensor<4x8xf32>
  %yd = amp.dequantize %p by %t : (tensor<4x8xf8E4M3FN>, tensor<f32>) -> tensor<4x8xf32>
  %s1, %h1 = amp.update_quantizer %s, %h, %a for f8E4M3FN : tensor<4xf32>
  // expected-error @below {{expected the scale to be an argument of the step of role 'quantizer_state'}}
  %t1, %k1 = amp.update_quantizer %b, %k, %b for f8E4M3FN : tensor<4xf32>
  return %xd, %yd, %s1, %h1, %t1, %k1 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>, tensor<4xf32>, tensor<f32>, tensor<4xf32>
}

// -----

func.func @magnitude_is_not_amax(
    %x: tensor<4x8xf32>, %y: tensor<4x8xf32>,
    %s: tensor<f32> {amp.role = "quantizer_state", amp.name = "s"},
    %h: tensor<4xf32> {amp.role = "quantizer_state", amp.name = "h"},
    %t: tensor<f32> {amp.role = "quantizer_state", amp.name = "t"},
    %k: tensor<4xf32> {amp.role = "quantizer_state", amp.name = "k"})
    -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32> {amp.updates = "s"}, tensor<4xf32> {amp.updates = "h"}, tensor<f32> {amp.updates = "t"}, tensor<4xf32> {amp.updates = "k"}) {
  %q = amp.quantize %x by %s saturate : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf8E4M3FN>
  %p = amp.quantize %y by %t saturate : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf8E4M3FN>
  %a = amp.amax %x : tensor<4x8xf32> -> tensor<f32>
  %b = amp.amax %y : tensor<4x8xf32> -> tensor<f32>
  %xd = amp.dequantize %q by %s : (tensor<4x8xf8E4M3FN>, tensor<f32>) -> tensor<4x8xf32>
  %yd = amp.dequantize %p by %t : (tensor<4x8xf8E4M3FN>, tensor<f32>) -> tensor<4x8xf32>
  // expected-error @below {{expected the magnitude of an 'amp.amax'}}
  %s1, %h1 = amp.update_quantizer %s, %h, %s for f8E4M3FN : tensor<4xf32>
  %t1, %k1 = amp.update_quantizer %t, %k, %b for f8E4M3FN : tensor<4xf32>
  return %xd, %yd, %s1, %h1, %t1, %k1 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>, tensor<4xf32>, tensor<f32>, tensor<4xf32>
}

// -----

func.func @region(
    %x: tensor<4x8xf32>, %y: tensor<4x8xf32>,
    %s: tensor<f32> {amp.role = "quantizer_state", amp.name = "s"},
    %h: tensor<4xf32> {amp.role = "quantizer_state", amp.name = "h"},
    %t: tensor<f32> {amp.role = "quantizer_state", amp.name = "t"},
    %k: tensor<4xf32> {amp.role = "quantizer_state", amp.name = "k"})
    -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32> {amp.updates = "s"}, tensor<4xf32> {amp.updates = "h"}, tensor<f32> {amp.updates = "t"}, tensor<4xf32> {amp.updates = "k"}) {
  %q = amp.quantize %x by %s saturate : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf8E4M3FN>
  %p = amp.quantize %y by %t saturate : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf8E4M3FN>
  %a = amp.amax %x : tensor<4x8xf32> -> tensor<f32>
  %b = amp.amax %y : tensor<4x8xf32> -> tensor<f32>
  %xd = amp.dequantize %q by %s : (tensor<4x8xf8E4M3FN>, tensor<f32>) -> tensor<4x8xf32>
  %yd = amp.dequantize %p by %t : (tensor<4x8xf8E4M3FN>, tensor<f32>) -> tensor<4x8xf32>
  %two = arith.constant 2 : index
  %one = arith.constant 1 : index
  %s1, %h1 = scf.for %i = %one to %two step %one iter_args(%si = %s, %hi = %h) -> (tensor<f32>, tensor<4xf32>) {
    // expected-error @below {{is in a region, expected one update in each step, outside of regions}}
    %s2, %h2 = amp.update_quantizer %si, %hi, %a for f8E4M3FN : tensor<4xf32>
    scf.yield %s2, %h2 : tensor<f32>, tensor<4xf32>
  }
  %t1, %k1 = amp.update_quantizer %t, %k, %b for f8E4M3FN : tensor<4xf32>
  return %xd, %yd, %s1, %h1, %t1, %k1 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>, tensor<4xf32>, tensor<f32>, tensor<4xf32>
}

// -----

// expected-error @below {{argument 1, 's', has 'amp.role' = "quantizer_state", expected an 'amp.update_quantizer' that writes it}}
func.func @no_update(%x: tensor<4xf32>, %s: tensor<f32> {amp.role = "quantizer_state", amp.name = "s"}) -> (tensor<f32> {amp.updates = "s"}) {
  %a = amp.amax %x : tensor<4xf32> -> tensor<f32>
  return %a : tensor<f32>
}

// -----

// The magnitude of a scaled gradient would be wrong when the loss scale changes.
func.func @scaled_magnitude(
    %g: tensor<4x8xf32>, %loss_scale: tensor<f32> {amp.name = "loss_scale"},
    %s: tensor<f32> {amp.role = "quantizer_state", amp.name = "s"},
    %h: tensor<4xf32> {amp.role = "quantizer_state", amp.name = "h"})
    -> (tensor<f32> {amp.updates = "s"}, tensor<4xf32> {amp.updates = "h"}) {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  // expected-note @below {{the loss scale enters here}}
  %scaled = amp.scale %seed by %loss_scale : tensor<f32>
  // expected-note @below {{the factor passes through this 'train.mul'}}
  %d = train.mul %g, %scaled : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  // expected-note @below {{the factor passes through this 'amp.amax'}}
  %a = amp.amax %d : tensor<4x8xf32> -> tensor<f32>
  // expected-error @below {{it becomes state of the next step, whose loss scale may be another}}
  %s1, %h1 = amp.update_quantizer %s, %h, %a for f8E5M2 : tensor<4xf32>
  return %s1, %h1 : tensor<f32>, tensor<4xf32>
}
