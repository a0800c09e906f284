// RUN: amp-opt %s --amp-training-pipeline | FileCheck %s --check-prefixes=CHECK,FP16
// RUN: amp-opt %s --amp-training-pipeline=precision=half | FileCheck %s --check-prefixes=CHECK,FP16
// RUN: amp-opt %s --pass-pipeline='builtin.module(amp-training-pipeline{precision=f16})' | FileCheck %s --check-prefixes=CHECK,FP16
// RUN: amp-opt %s --amp-training-pipeline=precision=bf16 | FileCheck %s --check-prefixes=CHECK,BF16
// RUN: amp-opt %s --amp-training-pipeline=precision=f32 | FileCheck %s --check-prefixes=CHECK,F32
// RUN: amp-opt %s --amp-training-pipeline="precision=fp16 loss-scale=128" | FileCheck %s --check-prefixes=CHECK,STATIC
// RUN: amp-opt %s --amp-training-pipeline="precision=fp16 loss-scale=none" | FileCheck %s --check-prefixes=CHECK,NONE
// RUN: amp-opt %s --amp-training-pipeline="precision=fp16 master-weights=copy" | FileCheck %s --check-prefixes=COPY

// Twice is once.
// RUN: amp-opt %s --amp-training-pipeline -o %t.once
// RUN: amp-opt %t.once --amp-training-pipeline -o %t.twice
// RUN: diff %t.once %t.twice
// RUN: amp-opt %s --amp-training-pipeline=master-weights=copy -o %t.once
// RUN: amp-opt %t.once --amp-training-pipeline=master-weights=copy -o %t.twice
// RUN: diff %t.once %t.twice

// RUN: not amp-opt %s --amp-training-pipeline=precision=fp7 2>&1 | FileCheck %s --check-prefix=ERR-PRECISION
// RUN: not amp-opt %s --amp-training-pipeline=loss-scale=often 2>&1 | FileCheck %s --check-prefix=ERR-SCALING
// RUN: not amp-opt %s --amp-training-pipeline=master-weights=keep 2>&1 | FileCheck %s --check-prefix=ERR-MASTER
// RUN: not amp-opt %s --amp-training-pipeline=policy=nowhere.yaml 2>&1 | FileCheck %s --check-prefix=ERR-POLICY
// RUN: not amp-opt %s --amp-training-pipeline=mode=test 2>&1 | FileCheck %s --check-prefix=ERR-MODE
// RUN: not amp-opt %s --amp-training-pipeline=narrow-saved-activations=true 2>&1 | FileCheck %s --check-prefix=ERR-RENAMED
// ERR-RENAMED: is now called 'compress-activations'

// ERR-PRECISION: error: auto-mixed-precision: unknown precision 'fp7', expected fp16, bf16 or f32
// ERR-SCALING: error: amp-insert-loss-scaling: unknown mode 'often', expected dynamic, layerwise, none or a number
// ERR-MASTER: error: auto-mixed-precision: unknown master-weights 'keep', expected cast, copy, split or none
// ERR-POLICY: error: cannot read policy 'nowhere.yaml'
// ERR-MODE: Cannot find option named 'test'

// CHECK-LABEL: func.func @step(
// FP16-SAME:   amp.name = "loss_scale", amp.role = "scaler_state"
// BF16-NOT:    scaler_state
// F32-NOT:     scaler_state
// STATIC-NOT:  scaler_state
// NONE-NOT:    scaler_state

// FP16:        train.linear {{.*}} : (tensor<8x4xf16>, tensor<4x2xf16>) -> tensor<8x2xf16>
// FP16:        %[[SEED:.*]] = amp.gradient_seed "loss"
// FP16:        %[[SCALED:.*]] = amp.scale %[[SEED]]
// FP16:        train.mse_grad %{{.*}}, %{{.*}}, %[[SCALED]] {{.*}} -> tensor<8x2xf16>
// FP16:        %[[G:.*]] = train.matmul {{.*}}gradient_of = ["w"]{{.*}} : (tensor<8x4xf16>, tensor<8x2xf16>) -> tensor<4x2xf32>
// FP16:        %[[U:.*]], %[[FINITE:.*]] = amp.unscale %[[G]] by
// FP16:        %[[OK:.*]] = tensor.extract %[[FINITE]]
// FP16:        scf.if %[[OK]]
// FP16:          train.sgd %{{.*}}, %[[U]]
// FP16:        amp.update_scale

// BF16:        train.linear {{.*}} : (tensor<8x4xbf16>, tensor<4x2xbf16>) -> tensor<8x2xbf16>
// BF16-NOT:    amp.unscale
// BF16-NOT:    scf.if

// F32-NOT:     amp.cast
// F32:         train.sgd

// STATIC:      arith.constant dense<1.280000e+02> : tensor<f32>
// STATIC:      amp.unscale
// STATIC-NOT:  scf.if

// NONE:        train.linear {{.*}}xf16>
// NONE-NOT:    amp.unscale

// COPY-LABEL:  func.func @step(
// COPY-SAME:   tensor<4x2xf16> {amp.init = #amp.init<copy_of, source = "w">, amp.name = "w.low", amp.role = "parameter"}
// COPY:        scf.if
// COPY:          %[[W1:.*]] = train.sgd
// COPY-NEXT:     amp.master_copy %[[W1]] : tensor<4x2xf32> to tensor<4x2xf16>

func.func @step(
    %w: tensor<4x2xf32> {amp.role = "parameter", amp.name = "w", amp.init = #amp.init<xavier_uniform>},
    %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr", amp.init = #amp.init<constant, value = 0.1>},
    %x: tensor<8x4xf32> {amp.role = "batch", amp.name = "x"},
    %y: tensor<8x2xf32> {amp.role = "batch", amp.name = "y"})
    -> (tensor<4x2xf32> {amp.updates = "w"}, tensor<f32> {amp.metric = "loss"}) {
  %p = train.linear %x, %w : (tensor<8x4xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>
  %loss = train.mse %p, %y : (tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<f32>
  %g = train.gradients %loss wrt(%w) : (tensor<f32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  %w1 = train.sgd %w, %g, %lr : (tensor<4x2xf32>, tensor<4x2xf32>, tensor<f32>) -> tensor<4x2xf32>
  return %w1, %loss : tensor<4x2xf32>, tensor<f32>
}
