// RUN: amp-opt %s --amp-set-ranks="ranks=4 rank=2" | FileCheck %s
// RUN: amp-opt %s --amp-set-ranks="ranks=4 rank=2" --amp-set-ranks="ranks=4 rank=2" | FileCheck %s
// RUN: amp-opt %s --split-input-file --verify-diagnostics --amp-set-ranks=ranks=3
// RUN: not amp-opt %s --amp-set-ranks=ranks=0 2>&1 | FileCheck %s --check-prefix=RANKS
// RUN: not amp-opt %s --amp-set-ranks="ranks=2 rank=2" 2>&1 | FileCheck %s --check-prefix=RANK
// RUN: sed 's/tensor<8x4xf32> to tensor<2x4xf32>/tensor<8x4xf32> to tensor<8x4xf32>/; s/tensor<2x4xf32>/tensor<8x4xf32>/g' %s | amp-opt --amp-set-ranks | FileCheck %s --check-prefix=ONE
//
// RANKS: error: amp-set-ranks: expected 'ranks' to be positive, got 0
// RANK: error: amp-set-ranks: expected 'rank' to be from 0 to 1, got 2

// CHECK-LABEL: func.func @step(
// CHECK: amp.all_reduce sum
// CHECK: amp.divide_by_ranks %{{.*}} of 4
// CHECK: train.dropout {{.*}}amp.divided_along = array<i64: 0, 4, 2>
// ONE-LABEL: func.func @step(
// ONE-SAME: %[[A:.*]]: tensor<8x4xf32>, %[[RNG:.*]]: tensor<2xi64>
// ONE-NEXT: %[[D:.*]] = train.dropout %[[A]], %[[RNG]] {rate = 1.000000e-01 : f64}
// ONE-NEXT: return %[[D]], %[[A]]
func.func @step(%a: tensor<8x4xf32>, %rng: tensor<2xi64>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %sum = amp.all_reduce sum %a : tensor<8x4xf32>
  %mean = amp.divide_by_ranks %sum : tensor<8x4xf32>
  %d = train.dropout %mean, %rng {rate = 0.1 : f64, amp.divided_along = array<i64: 0>} : (tensor<8x4xf32>, tensor<2xi64>) -> tensor<8x4xf32>
  // expected-error @below {{'amp.reduce_scatter' op divides dimension 0 of 'tensor<8x4xf32>' into parts of 'tensor<2x4xf32>', expected a part for each of 3 ranks}}
  %part = amp.reduce_scatter %mean along 0 : tensor<8x4xf32> to tensor<2x4xf32>
  %all = amp.all_gather %part along 0 : tensor<2x4xf32> to tensor<8x4xf32>
  return %d, %all : tensor<8x4xf32>, tensor<8x4xf32>
}
