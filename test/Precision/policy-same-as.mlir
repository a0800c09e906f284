// The lists of a framework's preset apply to operations of linalg, tosa, arith,
// math and StableHLO that mean the same as those of train; what means the same
// follows the file that is nearest.
//
// RUN: split-file %s %t
// RUN: amp-opt %t/upstream.mlir --auto-mixed-precision=policy=tensorflow 2>&1 | FileCheck %t/upstream.mlir --check-prefixes=CHECK,TF --implicit-check-not=warning:
// RUN: amp-opt %t/upstream.mlir --auto-mixed-precision=policy=pytorch 2>&1 | FileCheck %t/upstream.mlir --check-prefixes=CHECK,TORCH --implicit-check-not=warning:
// RUN: amp-opt %t/upstream.mlir --auto-mixed-precision='policy=pytorch-cpu precision=fp16' 2>&1 | FileCheck %t/upstream.mlir --check-prefixes=CHECK,CPU --implicit-check-not=warning:
// RUN: amp-opt %t/upstream.mlir --auto-mixed-precision=policy=mxnet 2>&1 | FileCheck %t/upstream.mlir --check-prefixes=CHECK,MXNET --implicit-check-not=warning:
// RUN: amp-opt %t/stablehlo.mlir --allow-unregistered-dialect --auto-mixed-precision=policy=tensorflow 2>&1 | FileCheck %t/stablehlo.mlir --check-prefixes=CHECK,TF --implicit-check-not=warning:
// RUN: amp-opt %t/logarithms.mlir --allow-unregistered-dialect --auto-mixed-precision=policy=pytorch-cpu 2>&1 | FileCheck %t/logarithms.mlir --implicit-check-not=warning:
// RUN: amp-opt %t/stablehlo.mlir --allow-unregistered-dialect --auto-mixed-precision=policy=pytorch 2>&1 | FileCheck %t/stablehlo.mlir --check-prefixes=CHECK,TORCH --implicit-check-not=warning:
// RUN: amp-opt %t/bodies.mlir --auto-mixed-precision | FileCheck %t/bodies.mlir --check-prefixes=CHECK,DEFAULT
// RUN: amp-opt %t/bodies.mlir --auto-mixed-precision=policy=pytorch | FileCheck %t/bodies.mlir --check-prefixes=CHECK,TORCH
// RUN: amp-opt %t/bodies.mlir --auto-mixed-precision=policy=%t/own.yaml | FileCheck %t/bodies.mlir --check-prefixes=CHECK,OWN
//
// An entry of the user's file for the operation of train applies to all of its
// forms, and one for the form itself wins.
// RUN: amp-opt %t/upstream.mlir --auto-mixed-precision=policy=%t/denied.yaml -o /dev/null 2>&1 | FileCheck %s --check-prefix=DENIED
// DENIED: warning: auto-mixed-precision: nothing became low: the policy allows none of the operations
// DENIED-NOT: warning
// RUN: amp-opt %t/upstream.mlir --auto-mixed-precision=policy=%t/named.yaml | FileCheck %s --check-prefix=NAMED
// NAMED: linalg.matmul ins({{.*}}xf16>
// NAMED: tosa.matmul {{.*}} (tensor<1x8x8xf32>
//
// Errors, and a policy that prints as one that means the same.
// RUN: not amp-opt %t/upstream.mlir --auto-mixed-precision=policy=%t/twice.yaml -o /dev/null 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: twice.yaml:4:15: error: policy: 'math.exp' is the same as 'train.exp' already
// RUN: not amp-opt %t/pinned.mlir --auto-mixed-precision=policy=%t/nothing.yaml -o /dev/null 2>&1 | FileCheck %s --check-prefix=NOTHING
// NOTHING: nothing.yaml:3:16: error: policy: 'train.expo' names no operation of the dialect 'train'
// RUN: not amp-opt %t/upstream.mlir --auto-mixed-precision=policy=%t/glob.yaml -o /dev/null 2>&1 | FileCheck %s --check-prefix=GLOB
// GLOB: glob.yaml:2:27: error: policy: 'train.*' is a glob, but the key of 'same-as' is expected to name one operation
// RUN: not amp-opt %t/upstream.mlir --auto-mixed-precision=policy=%t/empty.yaml -o /dev/null 2>&1 | FileCheck %s --check-prefix=EMPTY
// EMPTY: empty.yaml:2:11: error: policy: expected a value for 'train.exp'
// RUN: amp-opt --amp-print-policy=%t/named.yaml > %t/printed.yaml
// RUN: amp-opt --amp-print-policy=%t/printed.yaml | diff %t/printed.yaml -
// RUN: amp-opt %t/upstream.mlir --auto-mixed-precision=policy=%t/printed.yaml | FileCheck %s --check-prefix=NAMED
//
// Nothing is low, and nobody asked for remarks: one line says so, and the
// functions carry no mark.
// RUN: amp-opt %t/foreign.mlir --allow-unregistered-dialect --auto-mixed-precision 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: warning: auto-mixed-precision: nothing became low: the policy lists none of the 2 operations such as 'foreign.dot'
// NONE-NOT: warning
// NONE-NOT: amp.mixed_precision
// There is no warning if a pin or the precision asks for f32, or without floats.
// RUN: amp-opt %t/pinned.mlir --auto-mixed-precision -o /dev/null 2>&1 | FileCheck %s --check-prefix=SILENT --allow-empty
// RUN: amp-opt %t/foreign.mlir --allow-unregistered-dialect --auto-mixed-precision=precision=f32 -o /dev/null 2>&1 | FileCheck %s --check-prefix=SILENT --allow-empty
// SILENT-NOT: warning

//--- denied.yaml
version: 1
extends: pytorch
deny: [train.matmul]

//--- own.yaml
version: 1
extends: default
deny: [math.tanh, train.reduce_max]

//--- named.yaml
version: 1
extends: default
deny: [train.matmul]
allow: [linalg.matmul]

//--- twice.yaml
version: 1
same-as:
  train.exp: [math.exp]
  train.log: [math.exp]

//--- nothing.yaml
version: 1
same-as:
  train.expo: [math.exp]

//--- glob.yaml
version: 1
same-as: {"train.*":     [math.exp]}

//--- empty.yaml
version: 1
same-as: {train.exp: , train.log: [math.log]}

//--- upstream.mlir
// CHECK-LABEL: func.func @upstream
// CHECK-SAME: amp.mixed_precision
// CHECK: linalg.matmul ins({{.*}}xf16>
// TF: linalg.exp ins({{.*}}xf32>
// TORCH: linalg.exp ins({{.*}}xf32>
// CPU: linalg.exp ins({{.*}}xf16>
// MXNET: linalg.exp ins({{.*}}xf32>
// CHECK: tosa.matmul {{.*}} (tensor<1x8x8xf16>
// TF: tosa.log {{.*}}xf16>) ->
// TORCH: tosa.log {{.*}}xf32>) ->
// CPU: tosa.log {{.*}}xf16>) ->
// MXNET: tosa.log {{.*}}xf32>) ->
// CHECK: tosa.matmul {{.*}} (tensor<1x8x8xf16>
func.func @upstream(%a: tensor<8x8xf32>, %c: tensor<1x8x8xf32>, %z: tensor<1xf32>) -> (tensor<8x8xf32>, tensor<1x8x8xf32>) {
  %e = tensor.empty() : tensor<8x8xf32>
  %n = arith.constant 0.0 : f32
  %i = linalg.fill ins(%n : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %0 = linalg.matmul ins(%a, %a : tensor<8x8xf32>, tensor<8x8xf32>) outs(%i : tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = linalg.exp ins(%0 : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = tosa.matmul %c, %c, %z, %z : (tensor<1x8x8xf32>, tensor<1x8x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x8x8xf32>
  %3 = tosa.log %2 : (tensor<1x8x8xf32>) -> tensor<1x8x8xf32>
  %4 = tosa.matmul %3, %c, %z, %z : (tensor<1x8x8xf32>, tensor<1x8x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x8x8xf32>
  return %1, %4 : tensor<8x8xf32>, tensor<1x8x8xf32>
}

//--- stablehlo.mlir
// Sums are denied, extrema follow. Softmax is not written out by this.
// CHECK-LABEL: func.func @stablehlo
// CHECK-SAME: amp.mixed_precision
// CHECK: "stablehlo.dot_general"({{.*}} : (tensor<8x8xf16>, tensor<8x8xf16>)
// TF: "stablehlo.cosine"({{.*}} : (tensor<8x8xf32>)
// TORCH: "stablehlo.cosine"({{.*}} : (tensor<8x8xf16>)
// CHECK: "stablehlo.dot_general"({{.*}} : (tensor<8x8xf16>, tensor<8x8xf16>)
// CHECK: "stablehlo.maximum"({{.*}}tensor<f16>
// CHECK: "stablehlo.add"({{.*}}tensor<f32>
func.func @stablehlo(%a: tensor<8x8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %z = "stablehlo.constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %0 = "stablehlo.dot_general"(%a, %a) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = "stablehlo.cosine"(%0) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = "stablehlo.dot_general"(%1, %a) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = "stablehlo.reduce"(%2, %z) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %m = "stablehlo.maximum"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%m) : (tensor<f32>) -> ()
  }) {dimensions = array<i64: 1>} : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
  %4 = "stablehlo.reduce"(%2, %z) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %m = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%m) : (tensor<f32>) -> ()
  }) {dimensions = array<i64: 1>} : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
  return %3, %4 : tensor<8xf32>, tensor<8xf32>
}

//--- bodies.mlir
// The operation in the body of linalg.map, linalg.elementwise and linalg.reduce
// decides their class.
// CHECK-LABEL: func.func @bodies
// DEFAULT: linalg.map ins({{.*}}xf16>
// TORCH: linalg.map ins({{.*}}xf16>
// OWN: linalg.map { math.tanh } ins({{.*}}xf32>
// CHECK: linalg.elementwise kind=#linalg.elementwise_kind<square> ins({{.*}}xf32>
// DEFAULT: linalg.reduce ins({{.*}}xf16>{{.*}} outs({{.*}}xf16>
// TORCH: linalg.reduce ins({{.*}}xf16>{{.*}} outs({{.*}}xf16>
// OWN: linalg.reduce { arith.maximumf } ins({{.*}}xf32>
// DEFAULT: linalg.reduce ins({{.*}}xf16>) outs({{.*}}xf32>
// TORCH: linalg.reduce { arith.addf } ins({{.*}}xf32>
func.func @bodies(%a: tensor<8x8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8x8xf32>) {
  %e = tensor.empty() : tensor<8x8xf32>
  %l = arith.constant 0xFF800000 : f32
  %z = arith.constant 0.0 : f32
  %r = tensor.empty() : tensor<8xf32>
  %low = linalg.fill ins(%l : f32) outs(%r : tensor<8xf32>) -> tensor<8xf32>
  %zero = linalg.fill ins(%z : f32) outs(%r : tensor<8xf32>) -> tensor<8xf32>
  %0 = train.matmul %a, %a : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = linalg.map { math.tanh } ins(%0 : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>)
  %2 = train.matmul %1, %a : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = linalg.elementwise kind=#linalg.elementwise_kind<square> ins(%2 : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %4 = train.matmul %3, %a : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %5 = linalg.reduce { arith.maximumf } ins(%4 : tensor<8x8xf32>) outs(%low : tensor<8xf32>) dimensions = [1]
  %6 = linalg.reduce { arith.addf } ins(%4 : tensor<8x8xf32>) outs(%zero : tensor<8xf32>) dimensions = [1]
  %7 = train.matmul %4, %a : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %5, %6, %7 : tensor<8xf32>, tensor<8xf32>, tensor<8x8xf32>
}

//--- logarithms.mlir
// A logarithm is not a range slot in either dialect. autocast on the CPU runs it in
// the type of its operand.
// CHECK-LABEL: func.func @logarithms
// CHECK: "stablehlo.log"({{.*}} : (tensor<8x8xbf16>)
// CHECK: "stablehlo.log_plus_one"({{.*}} : (tensor<8x8xbf16>)
// CHECK: train.log {{.*}} : tensor<8x8xbf16>
// CHECK: train.log1p {{.*}} : tensor<8x8xbf16>
func.func @logarithms(%a: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = "stablehlo.dot_general"(%a, %a) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = "stablehlo.log"(%0) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = "stablehlo.log_plus_one"(%1) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = "stablehlo.dot_general"(%2, %a) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %4 = train.matmul %a, %a : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %5 = train.log %4 : tensor<8x8xf32>
  %6 = train.log1p %5 : tensor<8x8xf32>
  %7 = train.matmul %6, %a : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %3, %7 : tensor<8x8xf32>, tensor<8x8xf32>
}

//--- foreign.mlir
func.func @foreign(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = "foreign.dot"(%a, %a) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = "foreign.relu"(%0) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

//--- pinned.mlir
func.func @pinned(%a: tensor<8x8xf32>) -> tensor<8x8xf32> attributes {amp.precision = "f32"} {
  %0 = train.matmul %a, %a : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
func.func @integers(%a: tensor<8x8xi32>) -> tensor<8x8xi32> {
  return %a : tensor<8x8xi32>
}
