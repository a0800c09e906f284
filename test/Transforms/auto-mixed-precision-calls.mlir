// Operands and results of calls of a private function have one type, as values
// that a loop carries. It is decided together with all callers. The signature
// does not change if a caller is unknown.
//
// RUN: amp-opt %s --auto-mixed-precision --split-input-file --allow-unregistered-dialect > %t.fp16
// RUN: FileCheck %s < %t.fp16
// RUN: amp-opt %s --auto-mixed-precision=strategy=grappler --split-input-file --allow-unregistered-dialect > %t.grappler
// RUN: FileCheck %s --check-prefix=GRAPPLER < %t.grappler

// RUN: amp-opt %s --split-input-file --allow-unregistered-dialect > %t.input
// RUN: amp-opt %t.fp16 --amp-strip-precision --split-input-file --allow-unregistered-dialect | diff %t.input -
// RUN: amp-opt %t.fp16 --auto-mixed-precision --split-input-file --allow-unregistered-dialect | diff %t.fp16 -
// RUN: amp-opt %t.fp16 --auto-mixed-precision=strategy=grappler --split-input-file --allow-unregistered-dialect | diff %t.grappler -

// RUN: amp-opt %s --auto-mixed-precision --split-input-file --allow-unregistered-dialect --remarks-filter-missed=amp 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

// Two callers of a function of products. Everything is low.
// CHECK-LABEL: func.func private @layer(
// CHECK-SAME: tensor<4x4xf16>) -> tensor<4x4xf16>
// CHECK-SAME: amp.input_signature = (tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK-SAME: amp.mixed_precision = f16
// CHECK-NEXT: train.matmul {{.*}} : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf16>
// CHECK-NEXT: return {{.*}} : tensor<4x4xf16>
// CHECK-LABEL: func.func @two_calls
// CHECK: %[[A:.*]] = amp.cast %{{.*}} inserted : tensor<4x4xf32> to tensor<4x4xf16>
// CHECK: %[[R:.*]] = call @layer(%[[A]]) : (tensor<4x4xf16>) -> tensor<4x4xf16>
// CHECK: %[[S:.*]] = call @layer(%[[R]]) : (tensor<4x4xf16>) -> tensor<4x4xf16>
// CHECK: train.matmul %[[S]], %[[S]]
// GRAPPLER-LABEL: func.func private @layer(
// GRAPPLER-SAME: tensor<4x4xf16>) -> tensor<4x4xf16>
func.func private @layer(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = train.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
func.func @two_calls(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = call @layer(%a) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = call @layer(%0) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = train.matmul %1, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// -----

// Operations that need f32 have it in a called function too. Integers and other
// types pass through.
// CHECK-LABEL: func.func private @steep(
// CHECK-SAME: tensor<4x4xf32>, %{{.*}}: index, %{{.*}}: tensor<4xf16>) -> (tensor<4x4xf32>, tensor<4xf16>)
// CHECK-NOT: input_signature
// CHECK: train.exp {{.*}} : tensor<4x4xf32>
// CHECK-LABEL: func.func @caller
// CHECK: call @steep({{.*}}) {{.*}}: (tensor<4x4xf32>, index, tensor<4xf16>) -> (tensor<4x4xf32>, tensor<4xf16>)
func.func private @steep(%x: tensor<4x4xf32>, %n: index, %l: tensor<4xf16>) -> (tensor<4x4xf32>, tensor<4xf16>) {
  %0 = train.exp %x : tensor<4x4xf32>
  return %0, %l : tensor<4x4xf32>, tensor<4xf16>
}
func.func @caller(%a: tensor<4x4xf32>, %n: index, %l: tensor<4xf16>) -> (tensor<4x4xf32>, tensor<4xf16>) {
  %0:2 = call @steep(%a, %n, %l) : (tensor<4x4xf32>, index, tensor<4xf16>) -> (tensor<4x4xf32>, tensor<4xf16>)
  return %0#0, %0#1 : tensor<4x4xf32>, tensor<4xf16>
}

// -----

// A recursive call ties arguments to themselves. The callee may follow its
// caller.
// CHECK-LABEL: func.func @start
// CHECK: call @power({{.*}}) : (i1, tensor<4x4xf16>) -> tensor<4x4xf16>
// CHECK-LABEL: func.func private @power(
// CHECK-SAME: tensor<4x4xf16>) -> tensor<4x4xf16>
// CHECK: call @power({{.*}}) : (i1, tensor<4x4xf16>) -> tensor<4x4xf16>
func.func @start(%c: i1, %a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = call @power(%c, %a) : (i1, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = train.matmul %0, %0 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}
func.func private @power(%c: i1, %x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = train.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = scf.if %c -> tensor<4x4xf32> {
    %2 = func.call @power(%c, %0) : (i1, tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.yield %2 : tensor<4x4xf32>
  } else {
    scf.yield %0 : tensor<4x4xf32>
  }
  return %1 : tensor<4x4xf32>
}

// -----

// Signatures that do not change, with the reasons.
// CHECK: func.func private @declared(tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK-LABEL: func.func @public(
// CHECK-SAME: tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK-LABEL: func.func private @referenced(
// CHECK-SAME: tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK-LABEL: func.func private @kept(
// CHECK-SAME: tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK-LABEL: func.func private @state(
// CHECK-SAME: tensor<4x4xf32>
// CHECK-LABEL: func.func private @kept_by_call(
// CHECK-SAME: tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK-LABEL: func.func @all
// CHECK-COUNT-6: call @{{.*}} : (tensor<4x4xf32>) -> tensor<4x4xf32>
// REMARK-DAG: SignatureKept | Category:amp | Function=declared | Reason="it has no body here", Remark="what calls pass and get keeps its type"
// REMARK-DAG: SignatureKept | Category:amp | Function=public | Reason="it is public: not every caller is known"
// REMARK-DAG: SignatureKept | Category:amp | Function=referenced | Reason="another operation than a direct call uses it"
// REMARK-DAG: SignatureKept | Category:amp | Function=kept | Reason="'amp.precision' keeps its types"
// REMARK-DAG: SignatureKept | Category:amp | Function=state | Reason="its arguments or results have roles or pins"
// REMARK-DAG: SignatureKept | Category:amp | Function=kept_by_call | Reason="'amp.precision' keeps the types of a call"
func.func private @declared(tensor<4x4xf32>) -> tensor<4x4xf32>
func.func @public(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = train.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
func.func private @referenced(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = train.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
func.func private @kept(%x: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {amp.precision = "keep"} {
  %0 = train.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
func.func private @state(%x: tensor<4x4xf32> {amp.name = "x", amp.role = "batch"}) -> tensor<4x4xf32> {
  %0 = train.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
func.func private @kept_by_call(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = train.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
func.func @all(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = call @declared(%a) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = call @public(%0) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = call @referenced(%1) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = call @kept(%2) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = call @state(%3) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %5 = call @kept_by_call(%4) {amp.precision = "keep"} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  "foreign.use"() {callback = @referenced} : () -> ()
  return %5 : tensor<4x4xf32>
}

// -----

// The pin of a call takes precedence over the pin of the function around
// another call.
// CHECK-LABEL: func.func private @pinned(
// CHECK-SAME: tensor<4x4xf16>) -> tensor<4x4xf16>
func.func private @pinned(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = train.relu %x : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
func.func @outer(%a: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {amp.precision = "f32"} {
  %0 = call @pinned(%a) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
func.func @own(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = call @pinned(%a) {amp.precision = "low"} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

// Seeds arrive through calls. No range slot that depends on a seed is freed.
// CHECK-LABEL: func.func private @from_seed
// CHECK: train.reduce_sum {{.*}} -> tensor<8xf32>
func.func private @from_seed(%s: tensor<f32>) -> tensor<8x8xf32> {
  %k = train.clip %s {min = 0.0 : f64, max = 1.0 : f64} : tensor<f32>
  %b = train.broadcast %k {dims = array<i64: 0, 1>} : (tensor<f32>) -> tensor<8x8xf32>
  %r = train.reduce_sum %b {dims = array<i64: 0>} : (tensor<8x8xf32>) -> tensor<8xf32>
  %c = train.broadcast %r {dims = array<i64: 0>} : (tensor<8xf32>) -> tensor<8x8xf32>
  %t = train.tanh %c : tensor<8x8xf32>
  return %t : tensor<8x8xf32>
}
func.func @with_seed(%w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %x = call @from_seed(%seed) : (tensor<f32>) -> tensor<8x8xf32>
  %m = train.matmul %x, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %m : tensor<8x8xf32>
}
