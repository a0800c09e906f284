// Every decision of `strategy=grappler` says why: `--remarks-filter=amp` prints
// them.
//
// RUN: amp-opt %s --auto-mixed-precision=strategy=grappler --remarks-filter=amp --allow-unregistered-dialect 2>&1 >/dev/null | FileCheck %s
// RUN: amp-opt %s --auto-mixed-precision=strategy=grappler --auto-mixed-precision=strategy=grappler --remarks-filter=amp --allow-unregistered-dialect 2>&1 >/dev/null \
// RUN:   | FileCheck %s --check-prefix=TWICE
// RUN: amp-opt %s --auto-mixed-precision=strategy=grappler --allow-unregistered-dialect 2>&1 >/dev/null | count 0
//
// One kind alone.
// RUN: amp-opt %s --auto-mixed-precision=strategy=grappler --remarks-filter-missed=amp --allow-unregistered-dialect 2>&1 >/dev/null \
// RUN:   | FileCheck %s --check-prefix=MISSED
// MISSED-NOT: Passed
// MISSED: [Missed] KeptF32
// MISSED-NOT: Passed
// MISSED: [Missed] Unlisted
// MISSED-NOT: Passed

// CHECK-NOT: error
// CHECK: remark: [Analysis] Summary | Category:amp | Function=why | Bytes=1750, CastBytes=480, Casts=6, Cost=1750, LowSlots=13, Slots=19, Strategy=grappler
func.func @why(%a: tensor<4x4xf32>, %labels: tensor<4xi64>) -> (tensor<4x4xf32>, tensor<f32>) {
  // CHECK: [[#@LINE+1]]:{{.*}} remark: [Missed] KeptF32 | Category:amp | Function=why | Bytes={{[0-9]+}}, Class=clear, Kind=storage, Op=train.constant, Reason="no neighbour is in low precision", Slot=0
  %c = train.constant dense<0.5> : tensor<f32>
  // CHECK: [[#@LINE+1]]:{{.*}} remark: [Missed] KeptF32 | Category:amp | Function=why | Bytes={{[0-9]+}}, Class=deny, Kind=range, Op=train.exp, Reason="the values may leave the range of the low type", Slot=0
  %0 = train.exp %a : tensor<4x4xf32>
  // CHECK: [[#@LINE+1]]:{{.*}} remark: [Missed] KeptF32 | Category:amp | Function=why | Bytes={{[0-9]+}}, Class=infer, From=train.exp, FromSlot=0, Kind=storage, Op=train.tanh, Path="train.exp > train.tanh", Reason="computed from a value that must stay f32", Slot=0
  %1 = train.tanh %0 : tensor<4x4xf32>
  // CHECK: [[#@LINE+2]]:{{.*}} remark: [Passed] Low | Category:amp | Function=why | Bytes={{[0-9]+}}, Class=allow, Kind=compute, Op=train.matmul, Reason="allowed: low precision is fast here", Slot=0
  // CHECK: [[#@LINE+1]]:{{.*}} remark: [Passed] Low | Category:amp | Function=why | Bytes={{[0-9]+}}, Class=allow, Kind=storage, Op=train.matmul, Reason="allowed: low precision is fast here", Slot=1
  %2 = train.matmul %1, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK: [[#@LINE+1]]:{{.*}} remark: [Passed] Low | Category:amp | Function=why | Bytes={{[0-9]+}}, Class=infer, Kind=storage, Op=train.mul, Reason="between operations in low precision", Slot=0
  %3 = train.mul %2, %c : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %4 = train.matmul %3, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %5 = train.relu %4 : tensor<4x4xf32>
  // CHECK: [[#@LINE+1]]:{{.*}} remark: [Passed] Low | Category:amp | Function=why | Bytes={{[0-9]+}}, Class=infer, Kind=storage, Op=train.gelu, Reason="reads a value that is in low precision", Slot=0
  %6 = train.gelu %5 : tensor<4x4xf32>
  // The unlisted operations come last, before the summary.
  %7 = "foreign.tan"(%6) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK: [[#@LINE+2]]:{{.*}} remark: [Missed] KeptF32 | Category:amp | Function=why | Bytes={{[0-9]+}}, Class=deny, Kind=compute, Op=train.matmul, Reason="pinned by 'amp.precision'", Slot=0
  // CHECK: [[#@LINE+1]]:{{.*}} remark: [Missed] KeptF32 | Category:amp | Function=why | Bytes={{[0-9]+}}, Class=deny, Kind=storage, Op=train.matmul, Reason="pinned by 'amp.precision'", Slot=1
  %8 = train.matmul %5, %a {amp.precision = "f32"} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK: [[#@LINE+2]]:{{.*}} remark: [Passed] Low | Category:amp | Function=why | Bytes={{[0-9]+}}, Class=allow, Kind=compute, Op=train.matmul, Reason="allowed: low precision is fast here", Slot=0
  // CHECK: [[#@LINE+1]]:{{.*}} remark: [Passed] Low | Category:amp | Function=why | Bytes={{[0-9]+}}, Class=allow, Kind=storage, Op=train.matmul, Reason="allowed: low precision is fast here", Slot=1
  %9 = train.matmul %5, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK: [[#@LINE+1]]:{{.*}} remark: [Passed] Low | Category:amp | Function=why | Bytes={{[0-9]+}}, Class=infer, Kind=storage, Op=train.cross_entropy, Reason="reads a value that is in low precision", Slot=1
  %l = train.cross_entropy %5, %labels : (tensor<4x4xf32>, tensor<4xi64>) -> tensor<f32>
  // CHECK: [[#@LINE+2]]:{{.*}} remark: [Passed] Low | Category:amp | Function=why | Bytes={{[0-9]+}}, Class=clear, Kind=storage, Op=train.reduce_max, Reason="moves values of a neighbour in low precision", Slot=0
  // CHECK: [[#@LINE+1]]:{{.*}} remark: [Passed] Low | Category:amp | Function=why | Bytes={{[0-9]+}}, Class=clear, Kind=storage, Op=train.reduce_max, Reason="moves values of a neighbour in low precision", Slot=1
  %m = train.reduce_max %a {dims = array<i64: 1>, keep_dims} : (tensor<4x4xf32>) -> tensor<4x1xf32>
  %10 = train.sub %8, %9 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK: [[#@LINE+1]]:{{.*}} remark: [Passed] Low | Category:amp | Function=why | Bytes={{[0-9]+}}, Class=clear, Kind=storage, Op=train.minimum, Reason="moves values of a neighbour in low precision", Slot=0
  %11 = train.minimum %m, %5 : (tensor<4x1xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %10, %l : tensor<4x4xf32>, tensor<f32>
}

// CHECK: remark: [Missed] Unlisted | Category:amp | Function=why | Op=foreign.tan, Reason="no list of the policy names it"
// TWICE-COUNT-2: remark: [Analysis] Summary | Category:amp | Function=why | {{.*}}LowSlots=13, Slots=19, Strategy=grappler

// Terminators, constants and operations without an f32 tensor need no list.
// CHECK: remark: [Analysis] Summary | Category:amp | Function=unlisted | Bytes=64, CastBytes=0, Casts=0, Cost=64, LowSlots=0, Slots=1, Strategy=grappler
// CHECK-NOT: Unlisted
// CHECK: remark: [Missed] Unlisted | Category:amp | Function=unlisted | Op=foreign.op,
// CHECK: remark: [Missed] Unlisted | Category:amp | Function=unlisted | Op=foreign.shape,
// CHECK-NOT: Unlisted
func.func @unlisted(%a: tensor<4x4xf32>, %b: tensor<4xi64>) -> tensor<?x4xf32> {
  %c = arith.constant dense<1.0> : tensor<4x4xf32>
  %0 = "foreign.op"(%a, %c) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = "foreign.index"(%b) : (tensor<4xi64>) -> i1
  %2 = scf.if %1 -> tensor<4x4xf32> {
    scf.yield %0 : tensor<4x4xf32>
  } else {
    scf.yield %a : tensor<4x4xf32>
  }
  %3 = amp.cast %2 : tensor<4x4xf32> to tensor<4x4xf16>
  %4 = "foreign.shape"(%2) : (tensor<4x4xf32>) -> tensor<?x4xf32>
  return %4 : tensor<?x4xf32>
}

// A pin that cannot be satisfied. A pin on a region is not reported for each
// operation within.
// CHECK: [[#@LINE+2]]:{{.*}} remark: [Missed] PinIgnored | Category:amp | Function=ignored | Op=train.relu, Reason="pinned to low, but it has a value of type f64, and only f32 changes"
func.func @ignored(%a: tensor<4x4xf64>) -> tensor<4x4xf64> attributes {amp.precision = "low"} {
  %0 = train.relu %a {amp.precision = "low"} : tensor<4x4xf64>
  // CHECK-NOT: PinIgnored
  %1 = train.relu %0 : tensor<4x4xf64>
  return %1 : tensor<4x4xf64>
}

// A returned value has the type of the signature.
// CHECK: remark: [Missed] PinIgnored | Category:amp | Function=needed | Op=func.return, Reason="pinned to low, but what a function returns has the type of its signature; what computes it may be pinned instead"
func.func @needed(%w: tensor<4xf32>) -> tensor<4xf32> {
  %0 = train.relu %w : tensor<4xf32>
  return {amp.precision = "low"} %0 : tensor<4xf32>
}

// A pin on an argument, which keeps its type: in a public function because not
// every caller is known, in a private one because of the pin.
// CHECK: [[#@LINE+1]]:22: remark: [Missed] PinIgnored | Category:amp | Function=arguments | Argument=0, Reason="pinned to low, but an argument with a pin keeps its type; what reads it may be pinned instead"
func.func @arguments(%a: tensor<4x4xf32> {amp.precision = "low"},
                     // CHECK-NOT: PinIgnored
                     %b: tensor<4x4xf32> {amp.precision = "f32"},
                     %c: tensor<4x4xf32> {amp.precision = "keep"}) -> tensor<4x4xf32> {
  %0 = train.add %a, %b : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = train.add %0, %c : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}
