// The slots of every operation: which operands and results share an element
// type, and which types they may have. In `compute(o0 o1) storage(r0) 1->0`,
// operands 0 and 1 are slot 0, result 0 is slot 1, and slot 1 is low only if
// slot 0 is.
//
// RUN: amp-test-opt %s --test-precision-slots --verify-diagnostics -o /dev/null
//
// The default policy classifies each operation once. presets.py tests this for
// all presets. The test fails if an operation does not occur here.
// RUN: amp-test-opt %s --test-policy-coverage='dialects=train,amp exactly-once' -o /dev/null
//
// The line above fails for a policy that lacks operations.
// RUN: not amp-test-opt %s --test-policy-coverage='dialects=train policy=%S/Inputs/incomplete.yaml exactly-once' -o /dev/null 2>&1 \
// RUN:   | FileCheck %s
// CHECK-DAG: error: 'train.linear' has a slot that may change, but is in no list
// CHECK-DAG: error: 'train.clip_by_global_norm' has no slot that may change, but is in the list 'infer'
// CHECK-DAG: error: 'train.relu' is named by 2 entries
// CHECK-NOT: 'train.matmul'
// RUN: not amp-test-opt %S/Inputs/one-operation.mlir --test-policy-coverage=dialects=amp 2>&1 | FileCheck %s --check-prefix=OCCUR
// OCCUR: error: 'amp.cast' does not occur
// OCCUR-NOT: error: 'amp.gradient_seed'

func.func @slots(%m: tensor<4x4xf32>, %v: tensor<4xf32>, %s: tensor<f32>, %i: tensor<2x4x4x3xf32>, %filter: tensor<3x3x3x3xf32>,
                 %labels: tensor<4xi64>, %rng: tensor<2xi64>, %tracker: tensor<i32>) {
  // Products: a slot of operands, and a slot of the result, which is low only
  // if the operands are. The bias has the type of the result.
  // expected-remark@below {{compute(o0 o1) storage(r0) 1->0}}
  %matmul = train.matmul %m, %m : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // expected-remark@below {{compute(o0 o1) storage(o2 r0) 1->0}}
  %linear = train.linear %m, %m, %v : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  // expected-remark@below {{compute(o0 o1) storage(r0) 1->0}}
  %linear_without_bias = train.linear %m, %m : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // expected-remark@below {{compute(o0 o1) storage(r0) 1->0}}
  %conv2d = train.conv2d %i, %filter {padding = array<i64: 1, 1, 1, 1>} : (tensor<2x4x4x3xf32>, tensor<3x3x3x3xf32>) -> tensor<2x4x4x3xf32>
  // expected-remark@below {{compute(o0 o1) storage(r0) 1->0}}
  %conv2d_input_grad = train.conv2d_input_grad %i, %filter {padding = array<i64: 1, 1, 1, 1>} : (tensor<2x4x4x3xf32>, tensor<3x3x3x3xf32>) -> tensor<2x4x4x3xf32>
  // expected-remark@below {{compute(o0 o1) storage(r0) 1->0}}
  %conv2d_filter_grad = train.conv2d_filter_grad %i, %i {padding = array<i64: 1, 1, 1, 1>} : (tensor<2x4x4x3xf32>, tensor<2x4x4x3xf32>) -> tensor<3x3x3x3xf32>

  // Elementwise: operands and result have one type.
  // expected-remark@below {{storage(o0 r0)}}
  %neg = train.neg %m : tensor<4x4xf32>
  // expected-remark@below {{storage(o0 r0)}}
  %abs = train.abs %m : tensor<4x4xf32>
  // expected-remark@below {{storage(o0 r0)}}
  %sign = train.sign %m : tensor<4x4xf32>
  // expected-remark@below {{storage(o0 r0)}}
  %sin = train.sin %m : tensor<4x4xf32>
  // expected-remark@below {{storage(o0 r0)}}
  %cos = train.cos %m : tensor<4x4xf32>
  // expected-remark@below {{storage(o0 r0)}}
  %erf = train.erf %m : tensor<4x4xf32>
  // expected-remark@below {{storage(o0 r0)}}
  %sqrt = train.sqrt %m : tensor<4x4xf32>
  // expected-remark@below {{storage(o0 r0)}}
  %log = train.log %m : tensor<4x4xf32>
  // expected-remark@below {{storage(o0 r0)}}
  %log1p = train.log1p %m : tensor<4x4xf32>
  // expected-remark@below {{storage(o0 r0)}}
  %tanh = train.tanh %m : tensor<4x4xf32>
  // expected-remark@below {{storage(o0 r0)}}
  %sigmoid = train.sigmoid %m : tensor<4x4xf32>
  // expected-remark@below {{storage(o0 r0)}}
  %relu = train.relu %m : tensor<4x4xf32>
  // expected-remark@below {{storage(o0 r0)}}
  %gelu = train.gelu %m : tensor<4x4xf32>
  // expected-remark@below {{storage(o0 r0)}}
  %clip = train.clip %m {min = 0.0 : f64, max = 6.0 : f64} : tensor<4x4xf32>
  // expected-remark@below {{storage(o0 o1 r0)}}
  %relu_grad = train.relu_grad %m, %m : tensor<4x4xf32>
  // expected-remark@below {{storage(o0 o1 r0)}}
  %tanh_grad = train.tanh_grad %m, %m : tensor<4x4xf32>
  // expected-remark@below {{storage(o0 o1 r0)}}
  %sigmoid_grad = train.sigmoid_grad %m, %m : tensor<4x4xf32>
  // expected-remark@below {{storage(o0 o1 r0)}}
  %gelu_grad = train.gelu_grad %m, %m : tensor<4x4xf32>
  // expected-remark@below {{storage(o0 o1 r0)}}
  %clip_grad = train.clip_grad %m, %m {min = 0.0 : f64, max = 6.0 : f64} : tensor<4x4xf32>
  // expected-remark@below {{storage(o0 o1 r0)}}
  %add = train.add %m, %v : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  // expected-remark@below {{storage(o0 o1 r0)}}
  %sub = train.sub %m, %v : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  // expected-remark@below {{storage(o0 o1 r0)}}
  %mul = train.mul %m, %v : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  // expected-remark@below {{storage(o0 o1 r0)}}
  %div = train.div %m, %v : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  // expected-remark@below {{storage(o0 o1 r0)}}
  %maximum = train.maximum %m, %v : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  // expected-remark@below {{storage(o0 o1 r0)}}
  %minimum = train.minimum %m, %v : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  // expected-remark@below {{storage(o0 o1)}}
  %compare = train.compare gt, %m, %v : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xi1>
  // expected-remark@below {{storage(o1 o2 r0)}}
  %select = train.select %compare, %m, %s : (tensor<4x4xi1>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  // expected-remark@below {{storage(r0)}}
  %one_hot = train.one_hot %labels : (tensor<4xi64>) -> tensor<4x4xf32>
  // expected-remark@below {{storage(o0 r0)}}
  %dropout = train.dropout %m, %rng {rate = 0.1 : f64, key = 3 : i32} : (tensor<4x4xf32>, tensor<2xi64>) -> tensor<4x4xf32>

  // Elementwise, and steep: the result may leave the range of f16.
  // expected-remark@below {{range(o0 r0)}}
  %exp = train.exp %m : tensor<4x4xf32>
  // expected-remark@below {{range(o0 r0)}}
  %expm1 = train.expm1 %m : tensor<4x4xf32>
  // expected-remark@below {{range(o0 r0)}}
  %rsqrt = train.rsqrt %m : tensor<4x4xf32>
  // expected-remark@below {{range(o0 r0)}}
  %reciprocal = train.reciprocal %m : tensor<4x4xf32>
  // expected-remark@below {{range(o0 r0)}}
  %square = train.square %m : tensor<4x4xf32>
  // expected-remark@below {{range(o0 o1 r0)}}
  %pow = train.pow %m, %v : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>

  // Constants that round to a finite f16, that do not, and that cannot be read.
  // expected-remark@below {{storage(r0)}}
  %constant = train.constant dense<0.5> : tensor<f32>
  // expected-remark@below {{storage(r0)}}
  %constant_at_limit = train.constant dense<[65519.0, -65519.0]> : tensor<2xf32>
  // expected-remark@below {{range(r0)}}
  %constant_beyond_limit = train.constant dense<[0.0, 65520.0]> : tensor<2xf32>
  // expected-remark@below {{storage(r0)}}
  %constant_not_finite = train.constant dense<[0x7F800000, 0xFFC00000]> : tensor<2xf32>
  // expected-remark@below {{fixed(r0)}}
  %constant_resource = train.constant dense_resource<blob> : tensor<4xf32>
  // expected-remark@below {{none}}
  %constant_integer = train.constant dense<1> : tensor<i64>

  // Reductions accumulate in f32: operand and result are apart. Sums may leave
  // the range of f16.
  // expected-remark@below {{storage(o0) range(r0) 1->0}}
  %reduce_sum = train.reduce_sum %m {dims = array<i64: 0>} : (tensor<4x4xf32>) -> tensor<4xf32>
  // expected-remark@below {{storage(o0) storage(r0) 1->0}}
  %reduce_mean = train.reduce_mean %m {dims = array<i64: 0>} : (tensor<4x4xf32>) -> tensor<4xf32>
  // expected-remark@below {{storage(o0) storage(r0) 1->0}}
  %reduce_max = train.reduce_max %m {dims = array<i64: 0>} : (tensor<4x4xf32>) -> tensor<4xf32>

  // Shapes. Operations read only the extents of `like`, so its type is free.
  // expected-remark@below {{storage(o0 r0)}}
  %broadcast = train.broadcast %v {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<4x4xf32>
  // expected-remark@below {{storage(o0 r0) storage(o1)}}
  %broadcast_like = train.broadcast %v like %m {dims = array<i64: 0>} : (tensor<4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // expected-remark@below {{storage(o0 r0)}}
  %reshape = train.reshape %m : (tensor<4x4xf32>) -> tensor<16xf32>
  // expected-remark@below {{storage(o0 r0)}}
  %transpose = train.transpose %m {permutation = array<i64: 1, 0>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  // expected-remark@below {{storage(o0 r0)}}
  %slice = train.slice %m {offsets = array<i64: 0, 2>, sizes = array<i64: 4, 2>, strides = array<i64: 1, 1>} : (tensor<4x4xf32>) -> tensor<4x2xf32>
  // expected-remark@below {{storage(o0 r0)}}
  %pad = train.pad %v {low = array<i64: 1>, high = array<i64: 2>, interior = array<i64: 0>} : (tensor<4xf32>) -> tensor<7xf32>
  // expected-remark@below {{storage(o0 o1 r0)}}
  %concat = train.concat %v, %v {axis = 0 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>

  // Pooling.
  // expected-remark@below {{storage(o0 r0)}}
  %max_pool2d = train.max_pool2d %i {window = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<2x4x4x3xf32>) -> tensor<2x2x2x3xf32>
  // expected-remark@below {{storage(o0 o1 o2 r0)}}
  %max_pool2d_grad = train.max_pool2d_grad %i, %max_pool2d, %max_pool2d {window = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<2x4x4x3xf32>, tensor<2x2x2x3xf32>, tensor<2x2x2x3xf32>) -> tensor<2x4x4x3xf32>
  // expected-remark@below {{storage(o0 r0)}}
  %avg_pool2d = train.avg_pool2d %i {window = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<2x4x4x3xf32>) -> tensor<2x2x2x3xf32>
  // expected-remark@below {{storage(o0 r0)}}
  %avg_pool2d_grad = train.avg_pool2d_grad %avg_pool2d {window = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<2x2x2x3xf32>) -> tensor<2x4x4x3xf32>

  // Softmax and norms: activations may be low, statistics and gains are f32.
  // expected-remark@below {{storage(o0 r0)}}
  %softmax = train.softmax %m {axis = 1 : i64} : tensor<4x4xf32>
  // expected-remark@below {{storage(o0 r0)}}
  %log_softmax = train.log_softmax %m {axis = 1 : i64} : tensor<4x4xf32>
  // expected-remark@below {{storage(o0 o1 r0)}}
  %softmax_grad = train.softmax_grad %m, %m {axis = 1 : i64} : tensor<4x4xf32>
  // expected-remark@below {{storage(o0 o1 r0)}}
  %log_softmax_grad = train.log_softmax_grad %m, %m {axis = 1 : i64} : tensor<4x4xf32>
  // expected-remark@below {{fixed(o1 o2 r1 r2) storage(o0 r0)}}
  %layer_norm:3 = train.layer_norm %m, %v, %v : (tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>)
  // expected-remark@below {{fixed(o2 o3 o4 r1 r2) storage(o0 o1 r0)}}
  %layer_norm_grad:3 = train.layer_norm_grad %m, %m, %v, %v, %v : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>)
  // expected-remark@below {{fixed(o1 o2 o3 o4 r1 r2 r3 r4) storage(o0 r0)}}
  %batch_norm_training:5 = train.batch_norm_training %m, %v, %v, %v, %v : (tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  // expected-remark@below {{fixed(o1 o2 o3 o4) storage(o0 r0)}}
  %batch_norm_inference = train.batch_norm_inference %m, %v, %v, %v, %v : (tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  // expected-remark@below {{fixed(o2 o3 o4 r1 r2) storage(o0 o1 r0)}}
  %batch_norm_grad:3 = train.batch_norm_grad %m, %m, %v, %v, %v : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>)

  // expected-remark@below {{storage(o0) storage(r0) 1->0}}
  %logsumexp = train.logsumexp %m {axis = 1 : i64} : (tensor<4x4xf32>) -> tensor<4xf32>
  // expected-remark@below {{fixed(o1 r1) storage(o0 r0)}}
  %rms_norm:2 = train.rms_norm %m, %v : (tensor<4x4xf32>, tensor<4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>)
  // expected-remark@below {{fixed(o2 o3 r1) storage(o0 o1 r0)}}
  %rms_norm_grad:2 = train.rms_norm_grad %m, %m, %v, %v : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>)

  // Attention: products of low operands, sums of exponentials in f32. Sums over
  // indexed elements may leave the range of f16.
  // expected-remark@below {{compute(o0 o1 o2) storage(r0) fixed(r1) 1->0}}
  %attention:2 = train.scaled_dot_product_attention %m, %m, %m : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>)
  // expected-remark@below {{compute(o0 o1 o2 o3) storage(r0 r1 r2) storage(o4) fixed(o5) 1->0}}
  %attention_grad:3 = train.scaled_dot_product_attention_grad %m, %m, %m, %m, %m, %v : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>)
  %table = train.slice %m {offsets = array<i64: 0, 0>, sizes = array<i64: 4, 2>, strides = array<i64: 1, 1>} : (tensor<4x4xf32>) -> tensor<4x2xf32> // expected-remark {{storage(o0 r0)}}
  // expected-remark@below {{fixed(o1 o2) storage(o0 r0)}}
  %rotary_embedding = train.rotary_embedding %m, %table, %table : (tensor<4x4xf32>, tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x4xf32>
  // expected-remark@below {{storage(o0 r0)}}
  %gather = train.gather %m, %labels {axis = 0 : i64} : (tensor<4x4xf32>, tensor<4xi64>) -> tensor<4x4xf32>
  // expected-remark@below {{storage(o0) range(r0) 1->0}}
  %scatter_add = train.scatter_add %m, %labels {axis = 0 : i64} : (tensor<4x4xf32>, tensor<4xi64>) -> tensor<4x4xf32>
  // expected-remark@below {{storage(o0) range(r0) 1->0}}
  %cumsum = train.cumsum %m {axis = 0 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  // expected-remark@below {{storage(o0)}}
  %argmax = train.argmax %m {axis = 0 : i64} : (tensor<4x4xf32>) -> tensor<4xi64>
  // expected-remark@below {{storage(o0 r0)}}
  %silu = train.silu %m : tensor<4x4xf32>
  // expected-remark@below {{storage(o0 o1 r0)}}
  %silu_grad = train.silu_grad %m, %m : tensor<4x4xf32>

  // Losses are f32. Their operands and the gradients of these may be low.
  // expected-remark@below {{fixed(r0) storage(o0)}}
  %cross_entropy = train.cross_entropy %m, %labels : (tensor<4x4xf32>, tensor<4xi64>) -> tensor<f32>
  // expected-remark@below {{fixed(o2) storage(o0 r0)}}
  %cross_entropy_grad = train.cross_entropy_grad %m, %labels, %s : (tensor<4x4xf32>, tensor<4xi64>, tensor<f32>) -> tensor<4x4xf32>
  // expected-remark@below {{fixed(r0) storage(o0 o1)}}
  %mse = train.mse %m, %m : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<f32>
  // expected-remark@below {{fixed(o2) storage(o0 o1 r0)}}
  %mse_grad = train.mse_grad %m, %m, %s : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  // expected-remark@below {{fixed(r0) storage(o0 o1)}}
  %l1 = train.l1 %m, %m : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<f32>
  // expected-remark@below {{fixed(o2) storage(o0 o1 r0)}}
  %l1_grad = train.l1_grad %m, %m, %s : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>

  // Optimizers: gradients have any type. All other operands and results are
  // f32.
  // expected-remark@below {{fixed(o0 o2 r0) storage(o1)}}
  %sgd = train.sgd %v, %v, %s : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // expected-remark@below {{fixed(o0 o2 o3 r0 r1) storage(o1)}}
  %sgd_momentum:2 = train.sgd %v, %v, %s, %v {momentum = 0.9 : f64} : (tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  // expected-remark@below {{fixed(o0 o2 o3 o4 o5 r0 r1 r2) storage(o1)}}
  %adam:3 = train.adam %v, %v, %s, %v, %v, %s : (tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  // expected-remark@below {{fixed(o0 o2 o3 o4 o5 r0 r1 r2) storage(o1)}}
  %adamw:3 = train.adamw %v, %v, %s, %v, %v, %s : (tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  // expected-remark@below {{fixed(o0 o1 r0 r1 r2)}}
  %clip_by_global_norm:3 = train.clip_by_global_norm %m, %v {max_norm = 1.0 : f64} : (tensor<4x4xf32>, tensor<4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>, tensor<f32>)
  // expected-remark@below {{fixed(o0 o1 r0)}}
  %gradients = train.gradients %s wrt(%m) : (tensor<f32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // expected-remark@below {{none}}
  %documents = train.document_mask %labels {positions = 4 : i64} : (tensor<4xi64>) -> tensor<4x4xi1>
  // expected-remark@below {{none}}
  %advance_rng = train.advance_rng %rng : tensor<2xi64>

  // The amp dialect computes in f32. Gradients have any type.
  // expected-remark@below {{fixed(o0) fixed(r0)}}
  %cast = amp.cast %v : tensor<4xf32> to tensor<4xf16>
  // expected-remark@below {{fixed(r0)}}
  %gradient_seed = amp.gradient_seed "loss" : tensor<f32>
  // expected-remark@below {{fixed(o0 o1 r0)}}
  %scale = amp.scale %gradient_seed by %s : tensor<f32>
  // expected-remark@below {{storage(o0) storage(o1) fixed(o2 r0 r1)}}
  %unscale:2, %finite = amp.unscale %m, %v by %s : (tensor<4x4xf32>, tensor<4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>)
  // expected-remark@below {{storage(o0) fixed(r0)}}
  %inner_gradient = amp.inner_gradient %v : tensor<4xf32> to tensor<4xf32>
  // expected-remark@below {{storage(o0) fixed(o1 r0)}}
  %inner_gradient_2 = amp.inner_gradient %v by %s : tensor<4xf32> to tensor<4xf32>
  // expected-remark@below {{fixed(o0 r0)}}
  %update_scale:3 = amp.update_scale %s, %tracker, %tracker, %finite
  // expected-remark@below {{fixed(o0) fixed(r0)}}
  %master_copy = amp.master_copy %v : tensor<4xf32> to tensor<4xf16>
  // expected-remark@below {{fixed(o0) fixed(o1 r0)}}
  %residual = amp.residual %v, %master_copy : (tensor<4xf32>, tensor<4xf16>) -> tensor<4xf16>
  // expected-remark@below {{fixed(o0 o1) fixed(r0)}}
  %compensate = amp.compensate %master_copy, %residual : (tensor<4xf16>, tensor<4xf16>) -> tensor<4xf32>
  // expected-remark@below {{fixed(o0) fixed(r0)}}
  %upper_half = amp.upper_half %v : tensor<4xf32> to tensor<4xbf16>
  // expected-remark@below {{storage(o0) storage(o1) fixed(r0)}}
  %global_norm = amp.global_norm %m, %v : tensor<4x4xf32>, tensor<4xf32>
  // expected-remark@below {{storage(o0) storage(o1) fixed(r0)}}
  %square_sum = amp.square_sum %m, %v : tensor<4x4xf32>, tensor<4xf32>
  // expected-remark@below {{storage(o0 r0) fixed(o1 o2)}}
  %rescale = amp.rescale %v from %s to %scale : tensor<4xf32>
  // expected-remark@below {{storage(o0) storage(o1) fixed(r0)}}
  %max_magnitude = amp.max_magnitude %m, %v : tensor<4x4xf32>, tensor<4xf32>
  // expected-remark@below {{fixed(o0 o1 r0)}}
  %adapt_scale = amp.adapt_scale %s, %max_magnitude, %finite
  // expected-remark@below {{fixed(r0) storage(o0)}}
  %amax = amp.amax %m : tensor<4x4xf32> -> tensor<f32>
  // expected-remark@below {{fixed(o0 r0)}}
  %scale_from_amax = amp.scale_from_amax %amax for f8E4M3FN : tensor<f32>
  // expected-remark@below {{fixed(o0 o1 o2 r0 r1)}}
  %scale_after, %history_after = amp.update_quantizer %scale_from_amax, %v, %amax for f8E4M3FN : tensor<4xf32>
  // expected-remark@below {{fixed(o1 r0) storage(o0)}}
  %quantize = amp.quantize %m by %scale_from_amax saturate : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf8E4M3FN>
  // expected-remark@below {{fixed(o0 o1) storage(r0)}}
  %dequantize = amp.dequantize %quantize by %scale_from_amax : (tensor<4x4xf8E4M3FN>, tensor<f32>) -> tensor<4x4xf32>
  // expected-remark@below {{fixed(o0 o1 o2 o3) storage(o4 r0)}}
  %scaled_matmul = amp.scaled_matmul %quantize by %scale_from_amax, %quantize by %scale_from_amax plus %v : tensor<4xf32> : (tensor<4x4xf8E4M3FN>, tensor<f32>), (tensor<4x4xf8E4M3FN>, tensor<f32>) -> tensor<4x4xf32>
  // expected-remark@below {{storage(o0)}}
  %statistics = amp.statistics %m : tensor<4x4xf32>
  // expected-remark@below {{fixed(o0 r0) fixed(o1 r1)}}
  %all_reduce:2 = amp.all_reduce sum %m, %v : tensor<4x4xf32>, tensor<4xf32>
  // expected-remark@below {{storage(o0 r0)}}
  %all_max = amp.all_reduce max %m : tensor<4x4xf32>
  // expected-remark@below {{fixed(o0 r0)}}
  %reduce_scatter = amp.reduce_scatter %m along 0 : tensor<4x4xf32> to tensor<2x4xf32>
  // expected-remark@below {{storage(o0 r0)}}
  %all_gather = amp.all_gather %v along 0 : tensor<4xf32> to tensor<8xf32>
  // expected-remark@below {{storage(o0 r0)}}
  %rank_part = amp.rank_part %m along 0 : tensor<4x4xf32> to tensor<2x4xf32>
  // expected-remark@below {{fixed(o0 r0)}}
  %divide_by_ranks = amp.divide_by_ranks %m : tensor<4x4xf32>
  // expected-remark@below {{fixed(o0) fixed(o2) fixed(r1)}}
  %call:2 = amp.call "f"(%m, %labels, %v) : (tensor<4x4xf32>, tensor<4xi64>, tensor<4xf32>) -> (tensor<4xi64>, tensor<4xf32>)
  return
}

{-#
  dialect_resources: {
    builtin: {
      blob: "0x040000000000803F00000040000040400000803F"
    }
  }
#-}
