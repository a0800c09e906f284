// Attention, embedding and scans, and the norm and activations that go with
// them.
//
// Printed, generic and bytecode forms all read back as the text here.
//
// RUN: amp-opt %s | amp-opt | FileCheck %s
// RUN: amp-opt %s --mlir-print-op-generic | amp-opt | FileCheck %s
// RUN: amp-opt %s --emit-bytecode | amp-opt | FileCheck %s

// CHECK-LABEL: func.func @indexing(
func.func @indexing(%table: tensor<9x4xbf16>, %tokens: tensor<?x3xi64>, %x: tensor<?x5x2xf32>, %i: tensor<3xi32>,
                    %s: tensor<i64>, %dy: tensor<?x3x4xf16>) {
  // CHECK: train.gather %{{.*}}, %{{.*}} {axis = 0 : i64} : (tensor<9x4xbf16>, tensor<?x3xi64>) -> tensor<?x3x4xbf16>
  %0 = train.gather %table, %tokens {axis = 0 : i64} : (tensor<9x4xbf16>, tensor<?x3xi64>) -> tensor<?x3x4xbf16>
  // CHECK: train.gather %{{.*}}, %{{.*}} {axis = 1 : i64} : (tensor<?x5x2xf32>, tensor<3xi32>) -> tensor<?x3x2xf32>
  %1 = train.gather %x, %i {axis = 1 : i64} : (tensor<?x5x2xf32>, tensor<3xi32>) -> tensor<?x3x2xf32>
  // CHECK: train.gather %{{.*}}, %{{.*}} {axis = 1 : i64} : (tensor<?x5x2xf32>, tensor<i64>) -> tensor<?x2xf32>
  %2 = train.gather %x, %s {axis = 1 : i64} : (tensor<?x5x2xf32>, tensor<i64>) -> tensor<?x2xf32>
  // CHECK: train.scatter_add %{{.*}}, %{{.*}} {axis = 0 : i64} : (tensor<?x3x4xf16>, tensor<?x3xi64>) -> tensor<9x4xf32>
  %3 = train.scatter_add %dy, %tokens {axis = 0 : i64} : (tensor<?x3x4xf16>, tensor<?x3xi64>) -> tensor<9x4xf32>
  // CHECK: train.scatter_add %{{.*}}, %{{.*}} {axis = 1 : i64} : (tensor<?x3x4xf16>, tensor<3xi32>) -> tensor<?x7x4xf16>
  %4 = train.scatter_add %dy, %i {axis = 1 : i64} : (tensor<?x3x4xf16>, tensor<3xi32>) -> tensor<?x7x4xf16>
  return
}

// CHECK-LABEL: func.func @scans(
func.func @scans(%x: tensor<?x5x2xf32>, %low: tensor<?x5xf16>) {
  // CHECK: train.argmax %{{.*}} {axis = 1 : i64} : (tensor<?x5x2xf32>) -> tensor<?x2xi64>
  %0 = train.argmax %x {axis = 1 : i64} : (tensor<?x5x2xf32>) -> tensor<?x2xi64>
  // CHECK: train.argmax %{{.*}} {axis = 1 : i64} : (tensor<?x5xf16>) -> tensor<?xi32>
  %1 = train.argmax %low {axis = 1 : i64} : (tensor<?x5xf16>) -> tensor<?xi32>
  // CHECK: train.cumsum %{{.*}} {axis = 1 : i64} : (tensor<?x5x2xf32>) -> tensor<?x5x2xf32>
  %2 = train.cumsum %x {axis = 1 : i64} : (tensor<?x5x2xf32>) -> tensor<?x5x2xf32>
  // CHECK: train.cumsum %{{.*}} {axis = 0 : i64, reverse} : (tensor<?x5xf16>) -> tensor<?x5xf32>
  %3 = train.cumsum %low {axis = 0 : i64, reverse} : (tensor<?x5xf16>) -> tensor<?x5xf32>
  // CHECK: train.logsumexp %{{.*}} {axis = 2 : i64} : (tensor<?x5x2xf32>) -> tensor<?x5xf32>
  %4 = train.logsumexp %x {axis = 2 : i64} : (tensor<?x5x2xf32>) -> tensor<?x5xf32>
  // CHECK: train.logsumexp %{{.*}} {axis = 1 : i64} : (tensor<?x5xf16>) -> tensor<?xf32>
  %5 = train.logsumexp %low {axis = 1 : i64} : (tensor<?x5xf16>) -> tensor<?xf32>
  return
}

// CHECK-LABEL: func.func @attention(
func.func @attention(%q: tensor<?x2x4x6xf16>, %k: tensor<?x2x5x6xf16>, %v: tensor<?x2x5x3xf16>, %mask: tensor<?x1x1x5xi1>,
                     %x: tensor<4x6xf64>, %table: tensor<4x3xf32>, %wide: tensor<4x3xf64>,
                     %k1: tensor<?x1x4x6xf16>, %lse: tensor<?x2x4xf32>, %rng: tensor<2xi64>) {
  // CHECK: %[[Y:.*]], %[[LSE:.*]] = train.scaled_dot_product_attention %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {scale = 2.500000e-01 : f64} : (tensor<?x2x4x6xf16>, tensor<?x2x5x6xf16>, tensor<?x2x5x3xf16>, tensor<?x1x1x5xi1>) -> (tensor<?x2x4x3xf32>, tensor<?x2x4xf32>)
  %0:2 = train.scaled_dot_product_attention %q, %k, %v, %mask {scale = 0.25 : f64}
      : (tensor<?x2x4x6xf16>, tensor<?x2x5x6xf16>, tensor<?x2x5x3xf16>, tensor<?x1x1x5xi1>) -> (tensor<?x2x4x3xf32>, tensor<?x2x4xf32>)
  // CHECK: train.scaled_dot_product_attention %{{.*}}, %{{.*}}, %{{.*}} {causal} : (tensor<4x6xf64>, tensor<4x6xf64>, tensor<4x6xf64>) -> (tensor<4x6xf64>, tensor<4xf64>)
  %1:2 = train.scaled_dot_product_attention %x, %x, %x {causal} : (tensor<4x6xf64>, tensor<4x6xf64>, tensor<4x6xf64>) -> (tensor<4x6xf64>, tensor<4xf64>)
  // CHECK: train.scaled_dot_product_attention_grad %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {causal} : (tensor<4x6xf64>, tensor<4x6xf64>, tensor<4x6xf64>, tensor<4x6xf64>, tensor<4x6xf64>, tensor<4xf64>) -> (tensor<4x6xf64>, tensor<4x6xf64>, tensor<4x6xf64>)
  %2:3 = train.scaled_dot_product_attention_grad %x, %x, %x, %x, %1#0, %1#1 {causal}
      : (tensor<4x6xf64>, tensor<4x6xf64>, tensor<4x6xf64>, tensor<4x6xf64>, tensor<4x6xf64>, tensor<4xf64>) -> (tensor<4x6xf64>, tensor<4x6xf64>, tensor<4x6xf64>)
  // Dropout, with and without a mask.
  // CHECK: train.scaled_dot_product_attention %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {dropout_key = 3 : i32, dropout_rate = 1.000000e-01 : f64} : ({{.*}}, tensor<?x1x1x5xi1>, tensor<2xi64>) ->
  %7:2 = train.scaled_dot_product_attention %q, %k, %v, %mask, %rng {dropout_rate = 0.1 : f64, dropout_key = 3 : i32}
      : (tensor<?x2x4x6xf16>, tensor<?x2x5x6xf16>, tensor<?x2x5x3xf16>, tensor<?x1x1x5xi1>, tensor<2xi64>) -> (tensor<?x2x4x3xf32>, tensor<?x2x4xf32>)
  // CHECK: train.scaled_dot_product_attention_grad {{.*}} {dropout_rate = 1.000000e-01 : f64} : ({{.*}}, tensor<4xf64>, tensor<2xi64>) ->
  %8:3 = train.scaled_dot_product_attention_grad %x, %x, %x, %x, %1#0, %1#1, %rng {dropout_rate = 0.1 : f64}
      : (tensor<4x6xf64>, tensor<4x6xf64>, tensor<4x6xf64>, tensor<4x6xf64>, tensor<4x6xf64>, tensor<4xf64>, tensor<2xi64>) -> (tensor<4x6xf64>, tensor<4x6xf64>, tensor<4x6xf64>)
  // Two heads of queries read one of keys.
  // CHECK: train.scaled_dot_product_attention %{{.*}}, %{{.*}}, %{{.*}} {causal} : (tensor<?x2x4x6xf16>, tensor<?x1x4x6xf16>, tensor<?x1x4x6xf16>) -> (tensor<?x2x4x6xf16>, tensor<?x2x4xf32>)
  %5:2 = train.scaled_dot_product_attention %q, %k1, %k1 {causal} : (tensor<?x2x4x6xf16>, tensor<?x1x4x6xf16>, tensor<?x1x4x6xf16>) -> (tensor<?x2x4x6xf16>, tensor<?x2x4xf32>)
  // CHECK: train.scaled_dot_product_attention_grad {{.*}} -> (tensor<?x2x4x6xf16>, tensor<?x1x4x6xf16>, tensor<?x1x4x6xf16>)
  %6:3 = train.scaled_dot_product_attention_grad %q, %q, %k1, %k1, %q, %lse {causal}
      : (tensor<?x2x4x6xf16>, tensor<?x2x4x6xf16>, tensor<?x1x4x6xf16>, tensor<?x1x4x6xf16>, tensor<?x2x4x6xf16>, tensor<?x2x4xf32>)
      -> (tensor<?x2x4x6xf16>, tensor<?x1x4x6xf16>, tensor<?x1x4x6xf16>)
  // CHECK: train.rotary_embedding %{{.*}}, %{{.*}}, %{{.*}} : (tensor<?x2x4x6xf16>, tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<?x2x4x6xf16>
  %3 = train.rotary_embedding %q, %table, %table : (tensor<?x2x4x6xf16>, tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<?x2x4x6xf16>
  // CHECK: train.rotary_embedding %{{.*}}, %{{.*}}, %{{.*}} : (tensor<4x6xf64>, tensor<4x3xf64>, tensor<4x3xf64>) -> tensor<4x6xf64>
  %4 = train.rotary_embedding %x, %wide, %wide : (tensor<4x6xf64>, tensor<4x3xf64>, tensor<4x3xf64>) -> tensor<4x6xf64>
  return
}

// CHECK-LABEL: func.func @documents(
func.func @documents(%samples: tensor<?x4xi32>, %one: tensor<3xi64>) {
  // CHECK: train.document_mask %{{.*}} {positions = 6 : i64} : (tensor<?x4xi32>) -> tensor<?x1x6x6xi1>
  %0 = train.document_mask %samples {positions = 6 : i64} : (tensor<?x4xi32>) -> tensor<?x1x6x6xi1>
  // CHECK: train.document_mask %{{.*}} {positions = 6 : i64} : (tensor<3xi64>) -> tensor<6x6xi1>
  %1 = train.document_mask %one {positions = 6 : i64} : (tensor<3xi64>) -> tensor<6x6xi1>
  return
}

// CHECK-LABEL: func.func @norm_and_activation(
func.func @norm_and_activation(%x: tensor<?x3x8xbf16>, %gamma: tensor<8xf32>, %rstd: tensor<?x3xf32>, %logits: tensor<?x8xf16>,
                               %labels: tensor<?xi64>, %dy: tensor<f32>) {
  // CHECK: train.rms_norm %{{.*}}, %{{.*}} {epsilon = 1.000000e-05 : f64} : (tensor<?x3x8xbf16>, tensor<8xf32>) -> (tensor<?x3x8xbf16>, tensor<?x3xf32>)
  %0:2 = train.rms_norm %x, %gamma {epsilon = 1.0e-5 : f64} : (tensor<?x3x8xbf16>, tensor<8xf32>) -> (tensor<?x3x8xbf16>, tensor<?x3xf32>)
  // CHECK: train.rms_norm_grad %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : (tensor<?x3x8xbf16>, tensor<?x3x8xbf16>, tensor<8xf32>, tensor<?x3xf32>) -> (tensor<?x3x8xbf16>, tensor<8xf32>)
  %1:2 = train.rms_norm_grad %x, %x, %gamma, %rstd : (tensor<?x3x8xbf16>, tensor<?x3x8xbf16>, tensor<8xf32>, tensor<?x3xf32>) -> (tensor<?x3x8xbf16>, tensor<8xf32>)
  // CHECK: train.silu %{{.*}} : tensor<?x3x8xbf16>
  %2 = train.silu %x : tensor<?x3x8xbf16>
  // CHECK: train.silu_grad %{{.*}}, %{{.*}} : tensor<?x3x8xbf16>
  %3 = train.silu_grad %x, %2 : tensor<?x3x8xbf16>
  // CHECK: train.cross_entropy %{{.*}}, %{{.*}} {label_smoothing = 1.000000e-01 : f64} : (tensor<?x8xf16>, tensor<?xi64>) -> tensor<f32>
  %4 = train.cross_entropy %logits, %labels {label_smoothing = 0.1 : f64} : (tensor<?x8xf16>, tensor<?xi64>) -> tensor<f32>
  // CHECK: train.cross_entropy_grad %{{.*}}, %{{.*}}, %{{.*}} {label_smoothing = 1.000000e-01 : f64} : (tensor<?x8xf16>, tensor<?xi64>, tensor<f32>) -> tensor<?x8xf16>
  %5 = train.cross_entropy_grad %logits, %labels, %dy {label_smoothing = 0.1 : f64} : (tensor<?x8xf16>, tensor<?xi64>, tensor<f32>) -> tensor<?x8xf16>
  return
}
