// Intervals that hold wherever a value is stored: in f32, or rounded to f16.
//
// RUN: amp-test-opt %s --test-value-ranges=precision=fp16 --verify-diagnostics -o /dev/null

func.func @stored(%x: tensor<4xf32>) {
  // 0.1 is between two numbers of f16.
  // expected-remark@below {{[0.0999756, 10.1016] or NaN}}
  %a = train.clip %x {min = 0.1 : f64, max = 10.1 : f64} : tensor<4xf32>
  // Values that overflow or saturate.
  // expected-remark@below {{[65504, inf] or NaN}}
  %b = train.clip %x {min = 1.0e5 : f64, max = 2.0e5 : f64} : tensor<4xf32>
  // expected-remark@below {{[0, 0.000154257] or NaN}}
  %quotient = train.div %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // expected-remark@below {{[-inf, -65504]}}
  %mask = train.constant dense<-1.0e9> : tensor<4xf32>
  // Beyond the largest number by less than half a unit in the last place.
  // expected-remark@below {{[65504, 65519]}}
  %fits = train.constant dense<65519.0> : tensor<4xf32>
  // expected-remark@below {{[100000, 100000]}}
  %f64 = train.constant dense<1.0e5> : tensor<4xf64>
  return
}
