// Pins by the names of locations, and pins that contradict each other.
//
// RUN: split-file %s %t
// RUN: cd %t
// RUN: amp-opt names.mlir --auto-mixed-precision='policy=names.yaml strategy=grappler' 2>&1 | FileCheck %s --implicit-check-not=warning:
// RUN: amp-opt names.mlir --auto-mixed-precision=policy=names.yaml 2>&1 | FileCheck %s --implicit-check-not=warning:
//
// CHECK: warning: {{.*}}'train.exp' can exceed the range of f16, but a pin makes it low
//
// A plain name, a name with a child location, a name in nested fused locations,
// and the name of a call site. A longer pattern takes precedence, an attribute
// takes precedence over all patterns, and a pin on the operation over one
// around it.
// CHECK-LABEL: func.func @names
// CHECK: train.matmul {{.*}}test.tag = "plain"{{.*}} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK: train.matmul {{.*}}test.tag = "child"{{.*}} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK: train.matmul {{.*}}test.tag = "nested"{{.*}} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK: train.matmul {{.*}}test.tag = "call"{{.*}} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK: train.matmul {{.*}}test.tag = "longer"{{.*}} : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf16>
// CHECK: train.exp {{.*}}test.tag = "low"{{.*}} : tensor<4x4xf16>
// CHECK: train.matmul {{.*}}test.tag = "attribute"{{.*}} : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf16>
// CHECK: train.relu {{.*}}test.tag = "keep"{{.*}} : tensor<4x4xf32>
// CHECK: train.matmul {{.*}}test.tag = "unnamed"{{.*}} : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf16>
// CHECK: train.matmul {{.*}}test.tag = "region"{{.*}} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK: train.matmul {{.*}}test.tag = "within"{{.*}} : (tensor<4x4xf16>, tensor<4x4xf16>)
//
// A location without a name is known by its place. One with a name is not.
// RUN: amp-opt places.mlir --auto-mixed-precision=policy=places.yaml | FileCheck %s --check-prefix=PLACES
// PLACES: train.matmul %{{.*}} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
// PLACES: train.matmul %{{.*}} : (tensor<4x4xf16>, tensor<4x4xf16>)
//
// A pattern that matches nothing is most likely a mistake.
// RUN: amp-opt names.mlir --auto-mixed-precision=policy=nothing.yaml -o /dev/null 2>&1 | FileCheck %s --check-prefix=NOTHING
// NOTHING: nothing.yaml:3:28: warning: policy: 'encoder/layer9/*' matches no location of an operation
//
// RUN: not amp-opt names.mlir --auto-mixed-precision=policy=equal.yaml -o /dev/null 2>&1 | FileCheck %s --check-prefix=EQUAL
// EQUAL: equal.yaml:3:51: error: policy: '*coder/layer3/q' pins 'encoder/layer3/q' to low, but 'encoder/layer3*', which is as long, to f32
// EQUAL: equal.yaml:3:27: note: the other entry
// EQUAL: note: {{.*}}an operation that both match
//
// RUN: amp-opt conflict.mlir --auto-mixed-precision --split-input-file --verify-diagnostics -o /dev/null
// RUN: not amp-opt scopes.mlir --auto-mixed-precision=policy=scopes.yaml -o /dev/null 2>&1 | FileCheck %s --check-prefix=SCOPES
// SCOPES: error: {{.*}}'scf.yield' op pinned to f32 by the policy, but control flow ties a value of it to one that is pinned to low
// SCOPES: note: {{.*}}pinned to low here, by the policy
// RUN: amp-opt agree.mlir --auto-mixed-precision | FileCheck %s --check-prefix=AGREE
// AGREE-LABEL: func.func @terminators_agree
// AGREE: scf.if %{{.*}} -> (tensor<4x4xf32>)
// AGREE-LABEL: func.func @inner_pin_wins
// AGREE: scf.if %{{.*}} -> (tensor<4x4xf16>)

//--- names.yaml
version: 1
extends: default
pins:
  "encoder/*": f32
  "encoder/layer3/low*": low
  "decoder/*": low
  "head": keep

//--- nothing.yaml
version: 1
extends: default
pins: {"encoder/layer9/*": f32}

//--- equal.yaml
version: 1
extends: default
pins: {"encoder/layer3*": f32, "*coder/layer3/q": low}

//--- names.mlir
func.func @names(%a: tensor<4x4xf32>, %c: i1) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = train.matmul %a, %a {test.tag = "plain"} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> loc("encoder/layer3/q")
  %1 = train.matmul %0, %a {test.tag = "child"} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> loc("matmul"("encoder/layer1"("model.py":3:4)))
  %2 = train.matmul %1, %a {test.tag = "nested"} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> loc(fused["x", fused<"why">["y.py":1:1, "encoder/k"]])
  %3 = train.matmul %2, %a {test.tag = "call"} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> loc(callsite("f" at "encoder/call"))
  %4 = train.matmul %3, %a {test.tag = "longer"} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> loc("encoder/layer3/low/v")
  %5 = train.exp %4 {test.tag = "low"} : tensor<4x4xf32> loc("decoder/exp")
  %6 = train.matmul %5, %a {test.tag = "attribute", amp.precision = "low"} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> loc("encoder/layer3/q")
  %7 = train.relu %6 {test.tag = "keep"} : tensor<4x4xf32> loc("head")
  %8 = train.matmul %7, %6 {test.tag = "unnamed"} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> loc("head2")
  %9:2 = scf.if %c -> (tensor<4x4xf32>, tensor<4x4xf32>) {
    %10 = train.matmul %8, %8 {test.tag = "region"} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %11 = train.matmul %8, %8 {test.tag = "within"} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> loc("decoder/q")
    scf.yield %10, %11 : tensor<4x4xf32>, tensor<4x4xf32>
  } else {
    scf.yield %8, %8 : tensor<4x4xf32>, tensor<4x4xf32>
  } loc("encoder/if")
  %12 = train.matmul %8, %9#0 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %12, %9#1 : tensor<4x4xf32>, tensor<4x4xf32>
}

//--- conflict.mlir
func.func private @layer(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = train.relu %x : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
func.func @calls_in_pinned_regions(%a: tensor<4x4xf32>, %c: i1) -> tensor<4x4xf32> {
  %0 = scf.if %c -> tensor<4x4xf32> {
    // expected-note@below {{pinned to f32 here, by an operation around it}}
    %1 = func.call @layer(%a) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.yield %1 : tensor<4x4xf32>
  } else {
    scf.yield %a : tensor<4x4xf32>
  } {amp.precision = "f32"}
  %2 = scf.if %c -> tensor<4x4xf32> {
    // expected-error@below {{pinned to low by an operation around it, but control flow ties a value of it to one that is pinned to f32}}
    %3 = func.call @layer(%a) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.yield %3 : tensor<4x4xf32>
  } else {
    scf.yield %a : tensor<4x4xf32>
  } {amp.precision = "low"}
  %4 = train.matmul %0, %2 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %4 : tensor<4x4xf32>
}

// -----

// A pin of a call takes precedence over pins of regions.
func.func private @layer(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = train.relu %x : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
func.func @pinned_call_after_regions(%a: tensor<4x4xf32>, %c: i1) -> tensor<4x4xf32> {
  %0 = scf.if %c -> tensor<4x4xf32> {
    %1 = func.call @layer(%a) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.yield %1 : tensor<4x4xf32>
  } else {
    scf.yield %a : tensor<4x4xf32>
  } {amp.precision = "f32"}
  %2 = scf.if %c -> tensor<4x4xf32> {
    %3 = func.call @layer(%a) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.yield %3 : tensor<4x4xf32>
  } else {
    scf.yield %a : tensor<4x4xf32>
  } {amp.precision = "low"}
  %4 = call @layer(%0) {amp.precision = "f32"} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %5 = train.matmul %4, %2 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %5 : tensor<4x4xf32>
}

// -----

func.func private @layer(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = train.relu %x : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
func.func @calls(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-note@below {{pinned to low here, by 'amp.precision'}}
  %0 = call @layer(%a) {amp.precision = "low"} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  // expected-error@below {{pinned to f32 by 'amp.precision', but control flow ties a value of it to one that is pinned to low}}
  %1 = call @layer(%0) {amp.precision = "f32"} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// -----

// expected-note@below {{pinned to f32 here, by 'amp.precision'}}
func.func private @layer(%x: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {amp.precision = "f32"} {
  %0 = train.relu %x : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
func.func @call_of_pinned(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error@below {{pinned to low by 'amp.precision', but control flow ties a value of it to one that is pinned to f32}}
  %0 = call @layer(%a) {amp.precision = "low"} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

func.func private @layer(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = train.relu %x : tensor<4x4xf32>
  // expected-note@below {{pinned to low here, by 'amp.precision'}}
  return {amp.precision = "low"} %0 : tensor<4x4xf32>
}
func.func @call_of_returned(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error@below {{pinned to f32 by 'amp.precision', but control flow ties a value of it to one that is pinned to low}}
  %0 = call @layer(%a) {amp.precision = "f32"} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

func.func @loop(%a: tensor<4x4xf32>, %n: index) -> tensor<4x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-note@below {{pinned to f32 here, by 'amp.precision'}}
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a) -> tensor<4x4xf32> {
    %1 = train.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    // expected-error@below {{pinned to low by 'amp.precision', but control flow ties a value of it to one that is pinned to f32}}
    scf.yield {amp.precision = "low"} %1 : tensor<4x4xf32>
  } {amp.precision = "f32"}
  return %0 : tensor<4x4xf32>
}

// -----

func.func @branches(%a: tensor<4x4xf32>, %c: i1) -> tensor<4x4xf32> {
  %0 = scf.if %c -> tensor<4x4xf32> {
    %1 = train.matmul %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    // expected-note@below {{pinned to low here, by 'amp.precision'}}
    scf.yield {amp.precision = "low"} %1 : tensor<4x4xf32>
  } else {
    // expected-error@below {{pinned to keep by 'amp.precision', but control flow ties a value of it to one that is pinned to low}}
    scf.yield {amp.precision = "keep"} %a : tensor<4x4xf32>
  }
  return %0 : tensor<4x4xf32>
}

//--- scopes.yaml
version: 1
extends: default
pins: {"decoder": low, "encoder": f32}

//--- scopes.mlir
func.func @loop(%a: tensor<4x4xf32>, %n: index) -> tensor<4x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a) -> tensor<4x4xf32> {
    %1 = train.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.yield %1 : tensor<4x4xf32> loc("encoder")
  } loc("decoder")
  return %0 : tensor<4x4xf32>
}

//--- agree.mlir
func.func @terminators_agree(%a: tensor<4x4xf32>, %c: i1) -> tensor<4x4xf32> {
  %0 = scf.if %c -> tensor<4x4xf32> {
    %1 = train.matmul %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.yield {amp.precision = "keep"} %1 : tensor<4x4xf32>
  } else {
    scf.yield {amp.precision = "f32"} %a : tensor<4x4xf32>
  }
  %2 = train.matmul %0, %0 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}
func.func @inner_pin_wins(%a: tensor<4x4xf32>, %c: i1) -> tensor<4x4xf32> attributes {amp.precision = "f32"} {
  %0 = scf.if %c -> tensor<4x4xf32> {
    scf.yield {amp.precision = "low"} %a : tensor<4x4xf32>
  } else {
    scf.yield %a : tensor<4x4xf32>
  }
  return %0 : tensor<4x4xf32>
}

//--- places.yaml
version: 1
extends: default
pins: {"*places.mlir:2:*": f32, "*places.mlir:3:*": f32}

//--- places.mlir
func.func @places(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = train.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = train.matmul %0, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> loc("named"("places.mlir":3:8))
  return %1 : tensor<4x4xf32>
}
