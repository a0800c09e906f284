// RUN: amp-opt %s --train-to-inference > %t.once
// RUN: FileCheck %s --implicit-check-not=dropout --implicit-check-not=train.sgd --implicit-check-not=gradient < %t.once
// RUN: amp-opt %t.once --train-to-inference | diff %t.once -
// The gradients may be symbolic or expanded, and the step in mixed precision.
// RUN: amp-opt %s --train-autodiff --train-to-inference | diff %t.once -
// RUN: amp-opt %s --train-to-inference=entry=step | diff %t.once -
// RUN: amp-opt %t.once --train-to-inference=entry=step | diff %t.once -
// RUN: amp-opt %s --train-to-inference=keep-step | FileCheck %s --check-prefix=KEEP
// RUN: amp-opt %s --train-to-inference=keep-step --train-to-inference=keep-step | FileCheck %s --check-prefix=KEEP
// RUN: amp-opt %s --train-to-inference="keep-metrics suffix=_eval" --remarks-filter=amp 2>%t.remarks | FileCheck %s --check-prefix=EVAL --implicit-check-not=grad
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks

// KEEP: func.func @step(
// KEEP: train.gradients
// KEEP: func.func @step_inference(
// KEEP-NOT: func.func

// REMARK: MetricDropped
// REMARK-SAME: metric 'grad_norm' depends on gradients or on the state of loss scaling
// REMARK: metric 'scale' depends on gradients or on the state of loss scaling

// CHECK-LABEL: func.func @step_inference(
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<8x4xf32> {amp.init = #amp.init<kaiming_uniform>, amp.name = "w", amp.role = "parameter"}
// CHECK-SAME: %[[GAMMA:[a-z0-9]+]]: tensor<4xf32> {amp.init = #amp.init<ones>, amp.name = "gamma", amp.role = "parameter"}
// CHECK-SAME: %[[BETA:[a-z0-9]+]]: tensor<4xf32> {amp.name = "beta", amp.role = "parameter"}
// CHECK-SAME: %[[RM:[a-z0-9]+]]: tensor<4xf32> {{{.*}}amp.name = "running_mean", amp.role = "model_state"}
// CHECK-SAME: %[[RV:[a-z0-9]+]]: tensor<4xf32> {{{.*}}amp.name = "running_var", amp.role = "model_state"}
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<?x8xf32> {amp.name = "x", amp.role = "batch"})
// CHECK-SAME: -> (tensor<?x4xf32> {amp.prediction = "y"}, tensor<4xf32> {amp.prediction = "rstd"})
// CHECK-SAME: attributes {amp.inference_of = "step"} {
// CHECK: %[[H:.*]] = train.linear %[[X]], %[[W]] : (
// CHECK: %[[Y:.*]] = train.batch_norm_inference %[[H]], %[[GAMMA]], %[[BETA]], %[[RM]], %[[RV]] {epsilon = 1.000000e-03 : f64}
// CHECK: %[[VE:.*]] = train.add %[[RV]], %{{.*}}
// CHECK: %[[RSTD:.*]] = train.rsqrt %[[VE]]
// CHECK: return %[[Y]], %[[RSTD]]
// CHECK-NOT: func.func

// EVAL-LABEL: func.func @step_eval(
// EVAL-SAME: amp.name = "labels", amp.role = "batch"}) -> (tensor<f32> {amp.metric = "loss"}, tensor<?x4xf32> {amp.prediction = "y"}, tensor<4xf32> {amp.prediction = "rstd"})
// EVAL: %[[LOSS:.*]] = train.cross_entropy
// EVAL: return %[[LOSS]]

func.func @step(
    %w: tensor<8x4xf32> {amp.role = "parameter", amp.name = "w", amp.init = #amp.init<kaiming_uniform>},
    %gamma: tensor<4xf32> {amp.role = "parameter", amp.name = "gamma", amp.init = #amp.init<ones>},
    // Its start depends on an argument that is not needed.
    %beta: tensor<4xf32> {amp.role = "parameter", amp.name = "beta", amp.init = #amp.init<copy_of, source = "v">},
    %v: tensor<4xf32> {amp.role = "optimizer_state", amp.name = "v", amp.init = #amp.init<zeros>},
    %rm: tensor<4xf32> {amp.role = "model_state", amp.name = "running_mean", amp.init = #amp.init<zeros>},
    %rv: tensor<4xf32> {amp.role = "model_state", amp.name = "running_var", amp.init = #amp.init<ones>},
    %rng: tensor<2xi64> {amp.role = "model_state", amp.name = "rng", amp.init = #amp.init<rng_state>},
    %scale: tensor<f32> {amp.role = "scaler_state", amp.name = "loss_scale"},
    %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"},
    %x: tensor<?x8xf32> {amp.role = "batch", amp.name = "x"},
    %labels: tensor<?xi64> {amp.role = "batch", amp.name = "labels"})
    -> (tensor<8x4xf32> {amp.updates = "w"},
        tensor<4xf32> {amp.updates = "running_mean"},
        tensor<4xf32> {amp.updates = "running_var"},
        tensor<2xi64> {amp.updates = "rng"},
        tensor<f32> {amp.metric = "loss"},
        tensor<f32> {amp.metric = "grad_norm"},
        tensor<f32> {amp.metric = "scale"},
        tensor<?x4xf32> {amp.prediction = "y"},
        tensor<4xf32> {amp.prediction = "rstd"}) {
  %d = train.dropout %x, %rng {rate = 0.5 : f64} : (tensor<?x8xf32>, tensor<2xi64>) -> tensor<?x8xf32>
  %h = train.linear %d, %w : (tensor<?x8xf32>, tensor<8x4xf32>) -> tensor<?x4xf32>
  %y, %mean, %rstd, %rm1, %rv1 = train.batch_norm_training %h, %gamma, %beta, %rm, %rv {epsilon = 1.0e-3 : f64}
      : (tensor<?x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
      -> (tensor<?x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  %loss = train.cross_entropy %y, %labels : (tensor<?x4xf32>, tensor<?xi64>) -> tensor<f32>
  %g = train.gradients %loss wrt(%w) : (tensor<f32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %c, %norm = train.clip_by_global_norm %g {max_norm = 1.0 : f64} : (tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<f32>)
  %w1 = train.sgd %w, %c, %lr : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<f32>) -> tensor<8x4xf32>
  %rng1 = train.advance_rng %rng : tensor<2xi64>
  return %w1, %rm1, %rv1, %rng1, %loss, %norm, %scale, %y, %rstd
      : tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2xi64>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<?x4xf32>, tensor<4xf32>
}
