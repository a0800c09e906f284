// A loop that only the policy describes runs as often as scf.for. Weights that
// it carries and never changes are cast once before it. Values that it changes
// and values that are read after it keep their types.
//
// RUN: amp-opt %s --allow-unregistered-dialect --auto-mixed-precision=policy=stablehlo --mlir-print-op-generic -o %t
// RUN: FileCheck %s < %t
// RUN: amp-opt %t --allow-unregistered-dialect --amp-strip-precision -o %t.stripped
// RUN: amp-opt %s --allow-unregistered-dialect -o %t.input
// RUN: diff %t.input %t.stripped

// CHECK-LABEL: sym_name = "invariant"
// CHECK: %[[W:.*]] = "stablehlo.convert"(%{{.*}}) {amp.inserted} : (tensor<64x64xf32>) -> tensor<64x64xf16>
// CHECK: "stablehlo.while"(%{{.*}}, %{{.*}}, %[[W]])
// CHECK: ^bb0(%{{.*}}: tensor<i32>, %[[S:.*]]: tensor<64x64xf32>, %[[IN:.*]]: tensor<64x64xf16>):
// CHECK: ^bb0(%{{.*}}: tensor<i32>, %[[X:.*]]: tensor<64x64xf32>, %[[BODY:.*]]: tensor<64x64xf16>):
// CHECK-NOT: "stablehlo.convert"(%[[BODY]])
// CHECK: "stablehlo.dot"(%{{.*}}, %[[BODY]])
// CHECK: "stablehlo.return"(%{{.*}}, %{{.*}}, %[[BODY]])
// CHECK: (tensor<i32>, tensor<64x64xf32>, tensor<64x64xf16>) -> (tensor<i32>, tensor<64x64xf32>, tensor<64x64xf16>)
func.func @invariant(%i: tensor<i32>, %n: tensor<i32>, %x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0:3 = "stablehlo.while"(%i, %x, %w) ({
  ^bb0(%k: tensor<i32>, %s: tensor<64x64xf32>, %v: tensor<64x64xf32>):
    %c = "stablehlo.compare"(%k, %n) {comparison_direction = "LT"} : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%c) : (tensor<i1>) -> ()
  }, {
  ^bb0(%k: tensor<i32>, %s: tensor<64x64xf32>, %v: tensor<64x64xf32>):
    %d = "stablehlo.dot"(%s, %v) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    "stablehlo.return"(%k, %d, %v) : (tensor<i32>, tensor<64x64xf32>, tensor<64x64xf32>) -> ()
  }) : (tensor<i32>, tensor<64x64xf32>, tensor<64x64xf32>) -> (tensor<i32>, tensor<64x64xf32>, tensor<64x64xf32>)
  return %0#1 : tensor<64x64xf32>
}

// The weight is read after the loop, with all its digits.
// CHECK-LABEL: sym_name = "read_behind"
// CHECK: "stablehlo.while"
// CHECK: (tensor<64x64xf32>, tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>)
func.func @read_behind(%n: tensor<i1>, %x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0:2 = "stablehlo.while"(%x, %w) ({
  ^bb0(%s: tensor<64x64xf32>, %v: tensor<64x64xf32>):
    "stablehlo.return"(%n) : (tensor<i1>) -> ()
  }, {
  ^bb0(%s: tensor<64x64xf32>, %v: tensor<64x64xf32>):
    %d = "stablehlo.dot"(%s, %v) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    "stablehlo.return"(%d, %v) : (tensor<64x64xf32>, tensor<64x64xf32>) -> ()
  }) : (tensor<64x64xf32>, tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>)
  return %0#1 : tensor<64x64xf32>
}

// A chain within the loop costs as often as the loop runs: its cast in front of
// the loop pays.
// CHECK-LABEL: sym_name = "cost"
// CHECK: "stablehlo.convert"(%{{.*}}) {amp.inserted} : (tensor<64x64xf32>) -> tensor<64x64xf16>
// CHECK: "stablehlo.while"
// CHECK: "stablehlo.negate"{{.*}} : (tensor<64x64xf16>) -> tensor<64x64xf16>
func.func @cost(%n: tensor<i1>, %x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = "stablehlo.while"(%x) ({
  ^bb0(%s: tensor<64x64xf32>):
    "stablehlo.return"(%n) : (tensor<i1>) -> ()
  }, {
  ^bb0(%s: tensor<64x64xf32>):
    %v = "stablehlo.negate"(%w) : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %d = "stablehlo.dot"(%s, %v) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    "stablehlo.return"(%d) : (tensor<64x64xf32>) -> ()
  }) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// Nothing tells how often this loop runs. In 32 iterations a slice of a low copy
// saves more than the copy of the large tensor costs.
// CHECK-LABEL: sym_name = "unknown_times"
// CHECK: "stablehlo.while"
// CHECK: "stablehlo.slice"{{.*}} : (tensor<1024x64xf16>) -> tensor<64x64xf16>
func.func @unknown_times(%n: tensor<i32>, %x: tensor<64x64xf32>, %w: tensor<1024x64xf32>) -> tensor<64x64xf32> {
  %zero = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %one = "stablehlo.constant"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %0:3 = "stablehlo.while"(%zero, %n, %x) ({
  ^bb0(%k: tensor<i32>, %end: tensor<i32>, %s: tensor<64x64xf32>):
    %c = "stablehlo.compare"(%k, %end) {comparison_direction = "LT"} : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%c) : (tensor<i1>) -> ()
  }, {
  ^bb0(%k: tensor<i32>, %end: tensor<i32>, %s: tensor<64x64xf32>):
    %v = "stablehlo.slice"(%w) {start_indices = array<i64: 0, 0>, limit_indices = array<i64: 64, 64>, strides = array<i64: 1, 1>} : (tensor<1024x64xf32>) -> tensor<64x64xf32>
    %d = "stablehlo.dot"(%s, %v) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %next = "stablehlo.add"(%k, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%next, %end, %d) : (tensor<i32>, tensor<i32>, tensor<64x64xf32>) -> ()
  }) : (tensor<i32>, tensor<i32>, tensor<64x64xf32>) -> (tensor<i32>, tensor<i32>, tensor<64x64xf32>)
  return %0#2 : tensor<64x64xf32>
}

// Eight iterations do not pay for that. The bound is a value that the loop
// carries and never changes.
// CHECK-LABEL: sym_name = "eight_times"
// CHECK: "stablehlo.while"
// CHECK: "stablehlo.slice"{{.*}} : (tensor<1024x64xf32>) -> tensor<64x64xf32>
func.func @eight_times(%n: tensor<i32>, %x: tensor<64x64xf32>, %w: tensor<1024x64xf32>) -> tensor<64x64xf32> {
  %zero = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %one = "stablehlo.constant"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %eight = "stablehlo.constant"() {value = dense<8> : tensor<i32>} : () -> tensor<i32>
  %0:3 = "stablehlo.while"(%zero, %eight, %x) ({
  ^bb0(%k: tensor<i32>, %end: tensor<i32>, %s: tensor<64x64xf32>):
    %c = "stablehlo.compare"(%k, %end) {comparison_direction = "LT"} : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%c) : (tensor<i1>) -> ()
  }, {
  ^bb0(%k: tensor<i32>, %end: tensor<i32>, %s: tensor<64x64xf32>):
    %v = "stablehlo.slice"(%w) {start_indices = array<i64: 0, 0>, limit_indices = array<i64: 64, 64>, strides = array<i64: 1, 1>} : (tensor<1024x64xf32>) -> tensor<64x64xf32>
    %d = "stablehlo.dot"(%s, %v) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %next = "stablehlo.add"(%k, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%next, %end, %d) : (tensor<i32>, tensor<i32>, tensor<64x64xf32>) -> ()
  }) : (tensor<i32>, tensor<i32>, tensor<64x64xf32>) -> (tensor<i32>, tensor<i32>, tensor<64x64xf32>)
  return %0#2 : tensor<64x64xf32>
}

// Twenty do.
// CHECK-LABEL: sym_name = "twenty_times"
// CHECK: "stablehlo.while"
// CHECK: "stablehlo.slice"{{.*}} : (tensor<1024x64xf16>) -> tensor<64x64xf16>
func.func @twenty_times(%n: tensor<i32>, %x: tensor<64x64xf32>, %w: tensor<1024x64xf32>) -> tensor<64x64xf32> {
  %zero = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %one = "stablehlo.constant"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %twenty = "stablehlo.constant"() {value = dense<20> : tensor<i32>} : () -> tensor<i32>
  %0:3 = "stablehlo.while"(%zero, %twenty, %x) ({
  ^bb0(%k: tensor<i32>, %end: tensor<i32>, %s: tensor<64x64xf32>):
    %c = "stablehlo.compare"(%k, %end) {comparison_direction = "LT"} : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%c) : (tensor<i1>) -> ()
  }, {
  ^bb0(%k: tensor<i32>, %end: tensor<i32>, %s: tensor<64x64xf32>):
    %v = "stablehlo.slice"(%w) {start_indices = array<i64: 0, 0>, limit_indices = array<i64: 64, 64>, strides = array<i64: 1, 1>} : (tensor<1024x64xf32>) -> tensor<64x64xf32>
    %d = "stablehlo.dot"(%s, %v) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %next = "stablehlo.add"(%k, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%next, %end, %d) : (tensor<i32>, tensor<i32>, tensor<64x64xf32>) -> ()
  }) : (tensor<i32>, tensor<i32>, tensor<64x64xf32>) -> (tensor<i32>, tensor<i32>, tensor<64x64xf32>)
  return %0#2 : tensor<64x64xf32>
}

// A counter that runs down, in the operations of another dialect.
// CHECK-LABEL: sym_name = "eight_times_down"
// CHECK: "stablehlo.while"
// CHECK: "stablehlo.slice"{{.*}} : (tensor<1024x64xf32>) -> tensor<64x64xf32>
func.func @eight_times_down(%n: tensor<i32>, %x: tensor<64x64xf32>, %w: tensor<1024x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant dense<0> : tensor<i32>
  %two = arith.constant dense<2> : tensor<i32>
  %sixteen = arith.constant dense<16> : tensor<i32>
  %0:3 = "stablehlo.while"(%sixteen, %n, %x) ({
  ^bb0(%k: tensor<i32>, %end: tensor<i32>, %s: tensor<64x64xf32>):
    %c = "stablehlo.compare"(%zero, %k) {comparison_direction = "LT"} : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%c) : (tensor<i1>) -> ()
  }, {
  ^bb0(%k: tensor<i32>, %end: tensor<i32>, %s: tensor<64x64xf32>):
    %v = "stablehlo.slice"(%w) {start_indices = array<i64: 0, 0>, limit_indices = array<i64: 64, 64>, strides = array<i64: 1, 1>} : (tensor<1024x64xf32>) -> tensor<64x64xf32>
    %d = "stablehlo.dot"(%s, %v) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %next = arith.subi %k, %two : tensor<i32>
    "stablehlo.return"(%next, %end, %d) : (tensor<i32>, tensor<i32>, tensor<64x64xf32>) -> ()
  }) : (tensor<i32>, tensor<i32>, tensor<64x64xf32>) -> (tensor<i32>, tensor<i32>, tensor<64x64xf32>)
  return %0#2 : tensor<64x64xf32>
}

// A counter that is doubled does not count iterations.
// CHECK-LABEL: sym_name = "doubled"
// CHECK: "stablehlo.while"
// CHECK: "stablehlo.slice"{{.*}} : (tensor<1024x64xf16>) -> tensor<64x64xf16>
func.func @doubled(%n: tensor<i32>, %x: tensor<64x64xf32>, %w: tensor<1024x64xf32>) -> tensor<64x64xf32> {
  %one = "stablehlo.constant"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %two = "stablehlo.constant"() {value = dense<2> : tensor<i32>} : () -> tensor<i32>
  %eight = "stablehlo.constant"() {value = dense<8> : tensor<i32>} : () -> tensor<i32>
  %0:3 = "stablehlo.while"(%one, %eight, %x) ({
  ^bb0(%k: tensor<i32>, %end: tensor<i32>, %s: tensor<64x64xf32>):
    %c = "stablehlo.compare"(%k, %end) {comparison_direction = "LT"} : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%c) : (tensor<i1>) -> ()
  }, {
  ^bb0(%k: tensor<i32>, %end: tensor<i32>, %s: tensor<64x64xf32>):
    %v = "stablehlo.slice"(%w) {start_indices = array<i64: 0, 0>, limit_indices = array<i64: 64, 64>, strides = array<i64: 1, 1>} : (tensor<1024x64xf32>) -> tensor<64x64xf32>
    %d = "stablehlo.dot"(%s, %v) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %next = "stablehlo.multiply"(%k, %two) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%next, %end, %d) : (tensor<i32>, tensor<i32>, tensor<64x64xf32>) -> ()
  }) : (tensor<i32>, tensor<i32>, tensor<64x64xf32>) -> (tensor<i32>, tensor<i32>, tensor<64x64xf32>)
  return %0#2 : tensor<64x64xf32>
}
