// The interval of every result for any arguments, one rule at a time.
//
// RUN: amp-test-opt %s --test-value-ranges --verify-diagnostics -o /dev/null

func.func @unary(%x: tensor<4x8xf32>) {
  // expected-remark@below {{[-inf, inf] or NaN}}
  %neg = train.neg %x : tensor<4x8xf32>
  // expected-remark@below {{[0, inf] or NaN}}
  %r = train.relu %x : tensor<4x8xf32>
  // expected-remark@below {{[0, 1] or NaN}}
  %sigmoid = train.sigmoid %x : tensor<4x8xf32>
  // expected-remark@below {{[-1, 1] or NaN}}
  %tanh = train.tanh %x : tensor<4x8xf32>
  // expected-remark@below {{[-2, 3] or NaN}}
  %c = train.clip %x {min = -2.0 : f64, max = 3.0 : f64} : tensor<4x8xf32>
  // expected-remark@below {{[-3, 2] or NaN}}
  %neg1 = train.neg %c : tensor<4x8xf32>
  // expected-remark@below {{[0, 3] or NaN}}
  %abs = train.abs %c : tensor<4x8xf32>
  // expected-remark@below {{[-1, 1] or NaN}}
  %sign = train.sign %c : tensor<4x8xf32>
  // expected-remark@below {{[0, 1] or NaN}}
  %sign1 = train.sign %sigmoid : tensor<4x8xf32>
  // expected-remark@below {{[-1, 1] or NaN}}
  %sin = train.sin %x : tensor<4x8xf32>
  // expected-remark@below {{[-1, 1] or NaN}}
  %cos = train.cos %c : tensor<4x8xf32>
  // expected-remark@below {{[-1, 1] or NaN}}
  %erf = train.erf %x : tensor<4x8xf32>
  // expected-remark@below {{[0, 1.73205] or NaN}}
  %sqrt = train.sqrt %c : tensor<4x8xf32>
  // expected-remark@below {{[-inf, 1.09861] or NaN}}
  %log = train.log %c : tensor<4x8xf32>
  // expected-remark@below {{[0, 1.3863] or NaN}}
  %log1p = train.log1p %abs : tensor<4x8xf32>
  // expected-remark@below {{[0.135335, 20.0856] or NaN}}
  %exp = train.exp %c : tensor<4x8xf32>
  // expected-remark@below {{[0, inf] or NaN}}
  %exp1 = train.exp %x : tensor<4x8xf32>
  // expected-remark@below {{[-1, inf] or NaN}}
  %expm1 = train.expm1 %x : tensor<4x8xf32>
  // expected-remark@below {{[0.22313, 2.71829] or NaN}}
  %rsqrt = train.rsqrt %exp : tensor<4x8xf32>
  // expected-remark@below {{[-inf, inf] or NaN}}
  %rsqrt1 = train.rsqrt %abs : tensor<4x8xf32>
  // expected-remark@below {{[0.0497869, 7.38908] or NaN}}
  %reciprocal = train.reciprocal %exp : tensor<4x8xf32>
  // expected-remark@below {{[-inf, inf] or NaN}}
  %reciprocal1 = train.reciprocal %sigmoid : tensor<4x8xf32>
  // expected-remark@below {{[0, 9.00002] or NaN}}
  %square = train.square %c : tensor<4x8xf32>
  // expected-remark@below {{[-0.1701, 3.00001] or NaN}}
  %gelu = train.gelu %c : tensor<4x8xf32>
  // expected-remark@below {{[-0.1701, inf] or NaN}}
  %gelu1 = train.gelu %x : tensor<4x8xf32>
  return
}

func.func @activation_gradients(%x: tensor<4x8xf32>) {
  // expected-remark@below {{[-1, 1] or NaN}}
  %y = train.tanh %x : tensor<4x8xf32>
  // expected-remark@below {{[0, 1] or NaN}}
  %p = train.sigmoid %x : tensor<4x8xf32>
  // expected-remark@below {{[1, 3] or NaN}}
  %dy = train.clip %x {min = 1.0 : f64, max = 3.0 : f64} : tensor<4x8xf32>
  // expected-remark@below {{[0, 3] or NaN}}
  %relu_grad = train.relu_grad %y, %dy : tensor<4x8xf32>
  // expected-remark@below {{[-5.72207e-06, 3.00001] or NaN}}
  %tanh_grad = train.tanh_grad %y, %dy : tensor<4x8xf32>
  // expected-remark@below {{[0, 3.00002] or NaN}}
  %sigmoid_grad = train.sigmoid_grad %p, %dy : tensor<4x8xf32>
  // expected-remark@below {{[-0.600001, 3.60001] or NaN}}
  %gelu_grad = train.gelu_grad %x, %dy : tensor<4x8xf32>
  // expected-remark@below {{[0, 3] or NaN}}
  %clip_grad = train.clip_grad %x, %dy {min = 0.0 : f64, max = 6.0 : f64} : tensor<4x8xf32>
  return
}

func.func @binary(%x: tensor<4x8xf32>, %i: tensor<4xi64>) {
  // expected-remark@below {{[-2, 3] or NaN}}
  %a = train.clip %x {min = -2.0 : f64, max = 3.0 : f64} : tensor<4x8xf32>
  // expected-remark@below {{[4, 5] or NaN}}
  %b = train.clip %x {min = 4.0 : f64, max = 5.0 : f64} : tensor<4x8xf32>
  // expected-remark@below {{[2, 8.00002] or NaN}}
  %add = train.add %a, %b : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  // expected-remark@below {{[-7.00001, -0.999998] or NaN}}
  %sub = train.sub %a, %b : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  // expected-remark@below {{[-10, 15] or NaN}}
  %mul = train.mul %a, %b : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  // The same value on both sides: no negative products.
  // expected-remark@below {{[0, 9.00002] or NaN}}
  %mul1 = train.mul %a, %a : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  // expected-remark@below {{[-0.500001, 0.750001] or NaN}}
  %div = train.div %a, %b : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  // Division by a value that may be zero.
  // expected-remark@below {{[-inf, inf] or NaN}}
  %div1 = train.div %b, %a : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  // expected-remark@below {{[4, inf] or NaN}}
  %maximum = train.maximum %x, %b : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  // expected-remark@below {{[-2, 3] or NaN}}
  %minimum = train.minimum %a, %b : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  // expected-remark@below {{[0.0399999, 125] or NaN}}
  %pow = train.pow %b, %a : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  // expected-remark@below {{[2, 2]}}
  %two = train.constant dense<2.0> : tensor<f32>
  // expected-remark@below {{[0, 9.00002] or NaN}}
  %pow1 = train.pow %a, %two : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  // expected-remark@below {{[3, 3]}}
  %three = train.constant dense<3.0> : tensor<f32>
  // expected-remark@below {{[-8.00002, 27.0001] or NaN}}
  %pow2 = train.pow %a, %three : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  // expected-remark@below {{[-inf, inf] or NaN}}
  %pow3 = train.pow %a, %b : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  // Infinities that cancel.
  // expected-remark@below {{[-inf, inf] or NaN}}
  %sub1 = train.sub %x, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %compare = train.compare gt, %a, %b : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
  // expected-remark@below {{[-2, 5] or NaN}}
  %select = train.select %compare, %a, %b : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  // expected-remark@below {{[0, 1]}}
  %one_hot = train.one_hot %i : (tensor<4xi64>) -> tensor<4x8xf32>
  return
}

func.func @products(%x: tensor<4x8xf32>, %image: tensor<2x4x4x3xf32>, %f: tensor<3x3x3x5xf32>, %b: tensor<4xf32>) {
  // expected-remark@below {{[0, 1] or NaN}}
  %p = train.softmax %x {axis = 1 : i64} : tensor<4x8xf32>
  // expected-remark@below {{[-2, 3] or NaN}}
  %y = train.clip %x {min = -2.0 : f64, max = 3.0 : f64} : tensor<4x8xf32>
  // expected-remark@below {{[-16.0001, 24.0001] or NaN}}
  %matmul = train.matmul %p, %y {transpose_b} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32>
  // expected-remark@below {{[-8.00003, 12] or NaN}}
  %matmul1 = train.matmul %p, %y {transpose_a} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  // expected-remark@below {{[-inf, inf] or NaN}}
  %matmul2 = train.matmul %p, %x {transpose_b} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32>
  // expected-remark@below {{[-1, 1] or NaN}}
  %bias = train.tanh %b : tensor<4xf32>
  // expected-remark@below {{[-17.0001, 25.0001] or NaN}}
  %linear = train.linear %p, %y, %bias {transpose_weight} : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  // expected-remark@below {{[-16.0001, 24.0001] or NaN}}
  %linear1 = train.linear %p, %y {transpose_weight} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32>
  // expected-remark@below {{[1, 2] or NaN}}
  %i = train.clip %image {min = 1.0 : f64, max = 2.0 : f64} : tensor<2x4x4x3xf32>
  // expected-remark@below {{[1, 2] or NaN}}
  %w = train.clip %f {min = 1.0 : f64, max = 2.0 : f64} : tensor<3x3x3x5xf32>
  // expected-remark@below {{[26.9993, 108.001] or NaN}}
  %conv2d = train.conv2d %i, %w : (tensor<2x4x4x3xf32>, tensor<3x3x3x5xf32>) -> tensor<2x2x2x5xf32>
  // Padding is zeros.
  // expected-remark@below {{[0, 108.001] or NaN}}
  %conv2d1 = train.conv2d %i, %w {padding = array<i64: 1, 1, 1, 1>} : (tensor<2x4x4x3xf32>, tensor<3x3x3x5xf32>) -> tensor<2x4x4x5xf32>
  return
}

func.func @reductions(%x: tensor<4x8xf32>, %d: tensor<?x8xf32>, %image: tensor<2x4x4x3xf32>) {
  // expected-remark@below {{[-2, 3] or NaN}}
  %c = train.clip %x {min = -2.0 : f64, max = 3.0 : f64} : tensor<4x8xf32>
  // expected-remark@below {{[-64.0007, 96.0007] or NaN}}
  %sum = train.reduce_sum %c {dims = array<i64: 0, 1>} : (tensor<4x8xf32>) -> tensor<f32>
  // expected-remark@below {{[-2.00001, 3.00001] or NaN}}
  %mean = train.reduce_mean %c {dims = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4xf32>
  // expected-remark@below {{[-2, 3] or NaN}}
  %max = train.reduce_max %c {dims = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4xf32>
  // A sum that overflows before it is divided.
  // expected-remark@below {{[0, 1e+38] or NaN}}
  %large = train.clip %x {min = 0.0 : f64, max = 1.0e38 : f64} : tensor<4x8xf32>
  // expected-remark@below {{[0, inf] or NaN}}
  %mean1 = train.reduce_mean %large {dims = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4xf32>
  // Any number of rows.
  // expected-remark@below {{[0, 1] or NaN}}
  %p = train.sigmoid %d : tensor<?x8xf32>
  // expected-remark@below {{[0, inf] or NaN}}
  %sum1 = train.reduce_sum %p {dims = array<i64: 0>} : (tensor<?x8xf32>) -> tensor<8xf32>
  // expected-remark@below {{[0, 4.00001] or NaN}}
  %mean2 = train.reduce_mean %p {dims = array<i64: 0>} : (tensor<?x8xf32>) -> tensor<8xf32>
  // expected-remark@below {{[1, 2] or NaN}}
  %i = train.clip %image {min = 1.0 : f64, max = 2.0 : f64} : tensor<2x4x4x3xf32>
  // expected-remark@below {{[1, 2] or NaN}}
  %max_pool = train.max_pool2d %i {window = array<i64: 2, 2>, padding = array<i64: 1, 1, 1, 1>} : (tensor<2x4x4x3xf32>) -> tensor<2x5x5x3xf32>
  // expected-remark@below {{[0.999996, 2.00001] or NaN}}
  %avg_pool = train.avg_pool2d %i {window = array<i64: 2, 2>} : (tensor<2x4x4x3xf32>) -> tensor<2x3x3x3xf32>
  // expected-remark@below {{[0, 2.00001] or NaN}}
  %avg_pool1 = train.avg_pool2d %i {window = array<i64: 2, 2>, padding = array<i64: 1, 1, 1, 1>} : (tensor<2x4x4x3xf32>) -> tensor<2x5x5x3xf32>
  return
}

func.func @shapes(%x: tensor<4x8xf32>, %d: tensor<?x8xf32>, %v: tensor<8xf32>, %rng: tensor<2xi64>) {
  // expected-remark@below {{[1, 3] or NaN}}
  %c = train.clip %x {min = 1.0 : f64, max = 3.0 : f64} : tensor<4x8xf32>
  // expected-remark@below {{[-8, -4] or NaN}}
  %n = train.clip %v {min = -8.0 : f64, max = -4.0 : f64} : tensor<8xf32>
  // expected-remark@below {{[1, 3] or NaN}}
  %reshape = train.reshape %c : (tensor<4x8xf32>) -> tensor<8x4xf32>
  // expected-remark@below {{[1, 3] or NaN}}
  %transpose = train.transpose %c {permutation = array<i64: 1, 0>} : (tensor<4x8xf32>) -> tensor<8x4xf32>
  // expected-remark@below {{[1, 3] or NaN}}
  %slice = train.slice %c {offsets = array<i64: 0, 2>, sizes = array<i64: 4, 3>, strides = array<i64: 1, 2>} : (tensor<4x8xf32>) -> tensor<4x3xf32>
  // expected-remark@below {{[-7, 3] or NaN}}
  %pad = train.pad %c {low = array<i64: 0, 1>, high = array<i64: 0, 2>, interior = array<i64: 0, 0>, value = -7.0 : f64} : (tensor<4x8xf32>) -> tensor<4x11xf32>
  // expected-remark@below {{[-inf, inf] or NaN}}
  %concat = train.concat %c, %x {axis = 1 : i64} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>
  // expected-remark@below {{[1, 3] or NaN}}
  %concat1 = train.concat %c, %slice {axis = 1 : i64} : (tensor<4x8xf32>, tensor<4x3xf32>) -> tensor<4x11xf32>
  // expected-remark@below {{[-8, -4] or NaN}}
  %broadcast = train.broadcast %n {dims = array<i64: 0>} : (tensor<8xf32>) -> tensor<4x8xf32>
  // expected-remark@below {{[-2, -0.999998] or NaN}}
  %broadcast1 = train.broadcast %n {dims = array<i64: 0>, mean} : (tensor<8xf32>) -> tensor<4x8xf32>
  // expected-remark@below {{[-8, 0] or NaN}}
  %broadcast2 = train.broadcast %n like %d {dims = array<i64: 0>, mean} : (tensor<8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  // expected-remark@below {{[0, 6.00001] or NaN}}
  %dropout = train.dropout %c, %rng {rate = 0.5 : f64, key = 3 : i32} : (tensor<4x8xf32>, tensor<2xi64>) -> tensor<4x8xf32>
  return
}

func.func @softmax(%x: tensor<4x8xf32>, %d: tensor<8x?xf32>) {
  // expected-remark@below {{[0, 1] or NaN}}
  %softmax = train.softmax %x {axis = 1 : i64} : tensor<4x8xf32>
  // expected-remark@below {{[-inf, 0] or NaN}}
  %log_softmax = train.log_softmax %x {axis = 1 : i64} : tensor<4x8xf32>
  // Bounded operands: the spread, and the logarithm of the number of elements.
  // expected-remark@below {{[-2, 3] or NaN}}
  %c = train.clip %x {min = -2.0 : f64, max = 3.0 : f64} : tensor<4x8xf32>
  // expected-remark@below {{[0, 1] or NaN}}
  %softmax1 = train.softmax %c {axis = 1 : i64} : tensor<4x8xf32>
  // expected-remark@below {{[-8.46575, 0] or NaN}}
  %log_softmax1 = train.log_softmax %c {axis = 1 : i64} : tensor<4x8xf32>
  // expected-remark@below {{[-1, 1] or NaN}}
  %t = train.tanh %d : tensor<8x?xf32>
  // expected-remark@below {{[-inf, 0] or NaN}}
  %log_softmax2 = train.log_softmax %t {axis = 1 : i64} : tensor<8x?xf32>
  // expected-remark@below {{[-26.0002, 19.0001] or NaN}}
  %softmax_grad = train.softmax_grad %softmax1, %c {axis = 1 : i64} : tensor<4x8xf32>
  // expected-remark@below {{[-26.0002, 19.0001] or NaN}}
  %log_softmax_grad = train.log_softmax_grad %log_softmax1, %c {axis = 1 : i64} : tensor<4x8xf32>
  return
}

func.func @norms(%x: tensor<4x9xf32>, %v: tensor<9xf32>, %d: tensor<?x9xf32>) {
  // expected-remark@below {{[1, 1]}}
  %one = train.constant dense<1.0> : tensor<9xf32>
  // expected-remark@below {{[0, 0]}}
  %zero = train.constant dense<0.0> : tensor<9xf32>
  // Within the root of the number of elements, before the gain.
  // expected-remark@below {{[-3.00006, 3.00006] or NaN, [-inf, inf] or NaN, [0, 316.229] or NaN}}
  %layer_norm:3 = train.layer_norm %x, %one, %zero : (tensor<4x9xf32>, tensor<9xf32>, tensor<9xf32>) -> (tensor<4x9xf32>, tensor<4xf32>, tensor<4xf32>)
  // expected-remark@below {{[-2, 3] or NaN}}
  %c = train.clip %x {min = -2.0 : f64, max = 3.0 : f64} : tensor<4x9xf32>
  // expected-remark@below {{[-inf, inf] or NaN, [-2.00001, 3.00001] or NaN, [-inf, inf] or NaN}}
  %layer_norm1:3 = train.layer_norm %c, %one, %zero {epsilon = 0.0 : f64} : (tensor<4x9xf32>, tensor<9xf32>, tensor<9xf32>) -> (tensor<4x9xf32>, tensor<4xf32>, tensor<4xf32>)
  // expected-remark@below {{[-1, 1] or NaN}}
  %gamma = train.tanh %v : tensor<9xf32>
  // expected-remark@below {{[-4.00006, 4.00006] or NaN, [-2.00001, 3.00001] or NaN, [0, 316.229] or NaN}}
  %layer_norm2:3 = train.layer_norm %c, %gamma, %gamma : (tensor<4x9xf32>, tensor<9xf32>, tensor<9xf32>) -> (tensor<4x9xf32>, tensor<4xf32>, tensor<4xf32>)
  // expected-remark@below {{[-2.00004, 2.00004] or NaN, [-2.00001, 3.00001] or NaN, [0, 316.229] or NaN, [-0.200001, 0.300002] or NaN, [-inf, inf] or NaN}}
  %batch_norm:5 = train.batch_norm_training %c, %one, %zero, %zero, %one : (tensor<4x9xf32>, tensor<9xf32>, tensor<9xf32>, tensor<9xf32>, tensor<9xf32>) -> (tensor<4x9xf32>, tensor<9xf32>, tensor<9xf32>, tensor<9xf32>, tensor<9xf32>)
  // expected-remark@below {{[-inf, inf] or NaN, [-inf, inf] or NaN, [0, 316.229] or NaN, [-inf, inf] or NaN, [-inf, inf] or NaN}}
  %batch_norm1:5 = train.batch_norm_training %d, %one, %zero, %zero, %one : (tensor<?x9xf32>, tensor<9xf32>, tensor<9xf32>, tensor<9xf32>, tensor<9xf32>) -> (tensor<?x9xf32>, tensor<9xf32>, tensor<9xf32>, tensor<9xf32>, tensor<9xf32>)
  // expected-remark@below {{[-2.00001, 3.00002] or NaN}}
  %inference = train.batch_norm_inference %c, %one, %zero, %zero, %one : (tensor<4x9xf32>, tensor<9xf32>, tensor<9xf32>, tensor<9xf32>, tensor<9xf32>) -> tensor<4x9xf32>
  return
}

func.func @losses(%x: tensor<4x8xf32>, %labels: tensor<4xi64>, %s: tensor<f32>) {
  // expected-remark@below {{[0, inf] or NaN}}
  %cross_entropy = train.cross_entropy %x, %labels : (tensor<4x8xf32>, tensor<4xi64>) -> tensor<f32>
  // expected-remark@below {{[-2, 3] or NaN}}
  %c = train.clip %x {min = -2.0 : f64, max = 3.0 : f64} : tensor<4x8xf32>
  // expected-remark@below {{[0, 8.46578] or NaN}}
  %cross_entropy1 = train.cross_entropy %c, %labels : (tensor<4x8xf32>, tensor<4xi64>) -> tensor<f32>
  // expected-remark@below {{[0, 1] or NaN}}
  %p = train.sigmoid %x : tensor<4x8xf32>
  // expected-remark@below {{[0, 9.00014] or NaN}}
  %mse = train.mse %c, %p : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<f32>
  // expected-remark@below {{[0, 3.00003] or NaN}}
  %l1 = train.l1 %c, %p : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<f32>
  // expected-remark@below {{[-1, 1] or NaN}}
  %g = train.tanh %s : tensor<f32>
  // expected-remark@below {{[-0.250001, 0.250001] or NaN}}
  %cross_entropy_grad = train.cross_entropy_grad %c, %labels, %g : (tensor<4x8xf32>, tensor<4xi64>, tensor<f32>) -> tensor<4x8xf32>
  // expected-remark@below {{[-0.187501, 0.187501] or NaN}}
  %mse_grad = train.mse_grad %c, %p, %g : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  // expected-remark@below {{[-0.0312501, 0.0312501] or NaN}}
  %l1_grad = train.l1_grad %c, %p, %g : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  return
}

func.func @amp_and_constants(%x: tensor<4xf32>, %s: tensor<f32>) {
  // expected-remark@below {{[-3, 2]}}
  %constant = train.constant dense<[-3.0, 1.0, 2.0]> : tensor<3xf32>
  // expected-remark@below {{[1, 1] or NaN}}
  %nan = train.constant dense<[0x7FC00000, 1.0]> : tensor<2xf32>
  // expected-remark@below {{NaN}}
  %all_nan = train.constant dense<0x7FC00000> : tensor<2xf32>
  // expected-remark@below {{[0, inf] or NaN}}
  %after_nan = train.relu %all_nan : tensor<2xf32>
  // expected-remark@below {{[-inf, 0]}}
  %infinite = train.constant dense<[0xFF800000, 0.0]> : tensor<2xf32>
  // expected-remark@below {{[1, 2]}}
  %half = train.constant dense<[1.0, 2.0]> : tensor<2xf16>
  // expected-remark@below {{[5, 6]}}
  %other = arith.constant dense<[5.0, 6.0]> : tensor<2xf32>
  // expected-remark@below {{[1, 1]}}
  %resource = train.constant dense_resource<weights> : tensor<2xf32>
  // A cast rounds, and overflows.
  // expected-remark@below {{[0.1, 100000] or NaN}}
  %c = train.clip %x {min = 0.1 : f64, max = 1.0e5 : f64} : tensor<4xf32>
  // expected-remark@below {{[0.0999756, inf] or NaN}}
  %cast = amp.cast %c : tensor<4xf32> to tensor<4xf16>
  // expected-remark@below {{[0.0999756, inf] or NaN}}
  %wide = amp.cast %cast : tensor<4xf16> to tensor<4xf32>
  // expected-remark@below {{[0.100098, 99840] or NaN}}
  %copy = amp.master_copy %c : tensor<4xf32> to tensor<4xbf16>
  // Both 0.1 and 100000 are rounded towards zero.
  // expected-remark@below {{[0.0996094, 99840] or NaN}}
  %upper = amp.upper_half %c : tensor<4xf32> to tensor<4xbf16>
  // The value of a seed depends on the loss scale.
  // expected-remark@below {{[-inf, inf] or NaN of a seed}}
  %seed = amp.gradient_seed "loss" : tensor<f32>
  // expected-remark@below {{[-1, 1] or NaN}}
  %t = train.tanh %s : tensor<f32>
  // expected-remark@below {{[-inf, inf] or NaN of a seed}}
  %scaled = amp.scale %seed by %t : tensor<f32>
  // expected-remark@below {{[-1, 1] or NaN of a seed}}
  %bounded = train.tanh %scaled : tensor<f32>
  // expected-remark@below {{[0, 1] or NaN}}
  %product = train.mul %t, %t : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // Results of operations without a rule are unknown.
  // expected-remark@below {{[-inf, inf] or NaN}}
  %unscaled, %finite = amp.unscale %t by %s : (tensor<f32>) -> (tensor<f32>)
  return
}
{-# dialect_resources: { builtin: { weights: "0x080000000000803F0000803F" } } #-}
