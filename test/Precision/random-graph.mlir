// The generator of random graphs. The same seed gives the same text, every
// graph verifies and round-trips, and every documented kind of operation
// occurs.
//
// RUN: amp-test-opt %s --allow-unregistered-dialect --test-make-random-graph="seed=7 count=200" > %t.first
// RUN: amp-test-opt %s --allow-unregistered-dialect --test-make-random-graph="seed=7 count=200" | diff %t.first -
// RUN: amp-test-opt %t.first --allow-unregistered-dialect | diff %t.first -
// RUN: FileCheck %s < %t.first
// RUN: amp-test-opt %s --allow-unregistered-dialect --test-make-random-graph="seed=8 count=1" > %t.eight
// RUN: amp-test-opt %s --allow-unregistered-dialect --test-make-random-graph="seed=7 count=2" > %t.two
// RUN: grep -m1 -A3 @graph1 %t.two | tail -1 > %t.line
// RUN: grep -F -f %t.line %t.eight

// CHECK-DAG: func.func private @graph{{[0-9]+}}_helper{{[0-9]}}(
// CHECK-DAG: func.func private @graph{{[0-9]+}}_declared(
// CHECK-DAG: call @graph
// CHECK-DAG: scf.if
// CHECK-DAG: scf.for
// CHECK-DAG: scf.while
// CHECK-DAG: scf.forall
// CHECK-DAG: amp.precision = "f32"
// CHECK-DAG: amp.precision = "low"
// CHECK-DAG: amp.precision = "keep"
// CHECK-DAG: amp.gradient_of
// CHECK-DAG: amp.role = "parameter"
// CHECK-DAG: amp.updates = "w"
// CHECK-DAG: amp.cast %{{[^ ]*}} : tensor<{{.*}}xf32> to tensor<{{.*}}xf16>
// CHECK-DAG: amp.cast %{{[^ ]*}} inserted
// CHECK-DAG: train.conv2d
// CHECK-DAG: train.matmul
// CHECK-DAG: train.layer_norm
// CHECK-DAG: train.batch_norm_training
// CHECK-DAG: train.relu_grad
// CHECK-DAG: train.sgd
// CHECK-DAG: "foreign.op"
// CHECK-DAG: tensor<*xf32>
// CHECK-DAG: memref<4x8xf16>
// CHECK-DAG: vector<4xf32>
// CHECK-DAG: complex<f32>
// CHECK-DAG: tensor<4x8xf64>
// CHECK-DAG: tensor<4xf80>
// CHECK-DAG: f8E4M3FN
// CHECK-DAG: !quant.uniform<i8:f32
// CHECK-DAG: tensor<?x8xf32>
