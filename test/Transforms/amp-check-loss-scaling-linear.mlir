// Rules of a policy for operations without an interface.
// RUN: amp-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(amp-check-loss-scaling{linear=toy.dot=product,toy.loss_grad=2,toy.trans*})'
// RUN: not amp-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(amp-check-loss-scaling{linear=toy.*})' 2>&1 | FileCheck %s --check-prefix=SUM
// RUN: not amp-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(amp-check-loss-scaling{linear=toy.dot=product,toy.loss_grad=0})' 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: not amp-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(amp-check-loss-scaling{linear=toy.loss_grad=3})' 2>&1 | FileCheck %s --check-prefix=RANGE
// RUN: not amp-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(amp-check-loss-scaling{linear=toy.dot=sum})' 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: printf 'version: 1\nlinear:\n  - toy.dot=product\n  - toy.loss_grad=x\n' > %t.yaml
// RUN: not amp-opt --amp-print-policy=%t.yaml 2>&1 | FileCheck %s --check-prefix=POLICY
// RUN: not amp-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(amp-check-loss-scaling{linear=toy.dot=power:1/0})' 2>&1 | FileCheck %s --check-prefix=POWER
// RUN: not amp-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(amp-check-loss-scaling{linear=toy.loss_grad=each})' 2>&1 | FileCheck %s --check-prefix=EACH
// RUN: not amp-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(amp-check-loss-scaling{linear=toy.loss_grad=1+2})' 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: not amp-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(amp-check-loss-scaling{linear=toy.loss_grad=2,toy.transpose=quotient})' 2>&1 | FileCheck %s --check-prefix=QUOTIENT
// RUN: amp-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(amp-check-loss-scaling{linear=toy.dot=product,toy.loss_grad=2,toy.trans*(how:swap_*)})'
// RUN: amp-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(amp-check-loss-scaling{linear=toy.dot=product,toy.loss_grad=2,toy.trans*(how:keep)=order,toy.trans*(callee:s?ap)})'
// RUN: not amp-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(amp-check-loss-scaling{linear=toy.dot=product,toy.loss_grad=2,toy.trans*(how:keep)})' 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not amp-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(amp-check-loss-scaling{linear=toy.dot=product,toy.loss_grad=2,toy.trans*(which:swap)})' 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not amp-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(amp-check-loss-scaling{linear=toy.trans*(how)})' 2>&1 | FileCheck %s --check-prefix=CONDITION
// RUN: not amp-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(amp-check-loss-scaling{linear=toy.trans*(how:swap=1})' 2>&1 | FileCheck %s --check-prefix=CONDITION
// RUN: not amp-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(amp-check-loss-scaling{linear=toy.trans*(how:[z-a])})' 2>&1 | FileCheck %s --check-prefix=CONDITION
//
// UNKNOWN: error: 'toy.transpose' op has an operand that is multiplied by loss_scale, and its effect on the factor is unknown
// CONDITION: error: amp-check-loss-scaling: expected 'linear' to be a list of globs, each alone or with a condition on an attribute, as in 'foreign.call(callee:solve*)', got 'toy.trans*
// POWER: error: amp-check-loss-scaling: expected 'linear' to be a list of globs, {{.*}}, got 'toy.dot=power:1/0'
// EACH: error: 'toy.loss_grad' op is declared to keep each operand in 'linear', expected as many results, got 3 and 1
// TWO: error: 'toy.loss_grad' op operand 1 is multiplied by 1, but operand 2 by loss_scale, expected values with one factor
// QUOTIENT: error: 'toy.transpose' op is declared a quotient in 'linear', expected two operands, got 1
// SUM: error: 'toy.loss_grad' op operand 0 is multiplied by 1, but operand 2 by loss_scale, expected values with one factor
// OTHER: error: 'toy.loss_grad' op operand 2 is multiplied by loss_scale, expected an unscaled value: the operation is linear only in operand 0
// RANGE: error: 'toy.loss_grad' op is declared linear in operand 3, but has 3
// WRONG: error: amp-check-loss-scaling: expected 'linear' to be a list of globs, each alone or with '=' and operands as in '1+2' or a rule: product, quotient, power:1/2, power, order, each, constant, branch, loop or body, got 'toy.dot=sum'
// POLICY: yaml":4:5): error: policy: expected 'linear' to be a list of globs, each alone or with '=' and operands as in '1+2' or a rule: product, quotient, power:1/2, power, order, each, constant, branch, loop or body, got 'toy.loss_grad=x'
func.func @step(%y: tensor<2x4xf32>, %t: tensor<2x4xf32>, %x: tensor<8x2xf32>, %s: tensor<f32> {amp.name = "loss_scale", amp.role = "scaler_state"}) -> tensor<8x4xf32> {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %sc = amp.scale %seed by %s : tensor<f32>
  %dy = "toy.loss_grad"(%y, %t, %sc) : (tensor<2x4xf32>, tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %moved = "toy.transpose"(%dy) {how = "swap_all", callee = @swap} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %low = "toy.convert"(%moved) {amp.inserted} : (tensor<2x4xf32>) -> tensor<2x4xf16>
  %wide = "toy.convert"(%low) {amp.inserted} : (tensor<2x4xf16>) -> tensor<2x4xf32>
  %dw = "toy.dot"(%x, %wide) : (tensor<8x2xf32>, tensor<2x4xf32>) -> tensor<8x4xf32>
  %u, %finite = amp.unscale %dw by %s : (tensor<8x4xf32>) -> (tensor<8x4xf32>)
  return %u : tensor<8x4xf32>
}
