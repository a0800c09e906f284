// RUN: amp-opt %s --convert-amp-to-linalg --verify-diagnostics

func.func @dynamic(%x: tensor<?xf32>) -> tensor<?xf16> {
  // expected-error @+1 {{'amp.cast' op has the dynamic shape 'tensor<?xf32>', expected a static one; 'train-set-batch' gives the batch dimension its size}}
  %0 = amp.cast %x : tensor<?xf32> to tensor<?xf16>
  return %0 : tensor<?xf16>
}
