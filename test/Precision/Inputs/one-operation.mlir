// One operation of the dialect.
func.func @one() -> tensor<f32> {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  return %seed : tensor<f32>
}
