// RUN: amp-opt %s --amp-lower-step --split-input-file --verify-diagnostics

// expected-error @+1 {{'func.func' op 'x' has the dynamic shape 'tensor<?xf32>', expected a static one; 'train-set-batch' gives the batch dimension its size}}
func.func @dynamic(%x: tensor<?xf32> {amp.role = "batch", amp.name = "x"}) {
  return
}

// -----

// expected-error @+1 {{'func.func' op cannot be renamed to 'step_cpu', which exists already}}
func.func @step(%x: tensor<4xf32> {amp.role = "batch", amp.name = "x"}) {
  return
}
func.func private @step_cpu()

// -----

// expected-error @+1 {{'func.func' op is called from the module, which the calling convention of the runner does not allow}}
func.func @step(%x: tensor<4xf32> {amp.role = "batch", amp.name = "x"}) {
  return
}
func.func @caller(%x: tensor<4xf32>) {
  call @step(%x) : (tensor<4xf32>) -> ()
  return
}

// -----

// expected-error @+1 {{expected a step with a single block; control flow must be structured (scf)}}
func.func @step(%x: tensor<4xf32> {amp.role = "batch", amp.name = "x"}, %c: tensor<i1> {amp.role = "batch", amp.name = "c"}) {
  cf.br ^bb1
^bb1:
  return
}

// -----

// expected-error @+1 {{argument}}
func.func @step(%x: tensor<4xf32> {amp.role = "batch", amp.name = "x"}, %c: tensor<i1>) {
  return
}
