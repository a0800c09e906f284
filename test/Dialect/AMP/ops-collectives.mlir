// The collectives of the amp dialect.
//
// Printed, generic and bytecode forms all read back as the text here.
//
// RUN: amp-opt %s | amp-opt | FileCheck %s
// RUN: amp-opt %s --mlir-print-op-generic | amp-opt | FileCheck %s
// RUN: amp-opt %s --emit-bytecode | amp-opt | FileCheck %s

// CHECK-LABEL: func.func @collectives(
func.func @collectives(%a: tensor<8x4xf32>, %b: tensor<?xbf16>, %f: tensor<i1>, %n: tensor<i64>,
                       %part: tensor<2x4xf16>, %open: tensor<?x4xf32>, %flat: tensor<11xf32>) {
  // CHECK: amp.all_reduce sum %{{.*}}, %{{.*}} : tensor<8x4xf32>, tensor<?xbf16>
  %0:2 = amp.all_reduce sum %a, %b : tensor<8x4xf32>, tensor<?xbf16>
  // CHECK: amp.all_reduce max %{{.*}}, %{{.*}} {test.note = 1 : i64} : tensor<8x4xf32>, tensor<i64>
  %1:2 = amp.all_reduce max %a, %n {test.note = 1 : i64} : tensor<8x4xf32>, tensor<i64>
  // CHECK: amp.all_reduce and %{{.*}} : tensor<i1>
  %2 = amp.all_reduce and %f : tensor<i1>
  // CHECK: amp.reduce_scatter %{{.*}} along 0 : tensor<8x4xf32> to tensor<2x4xf32>
  %3 = amp.reduce_scatter %a along 0 : tensor<8x4xf32> to tensor<2x4xf32>
  // CHECK: amp.reduce_scatter %{{.*}} along 1 : tensor<?x4xf32> to tensor<?x1xf32>
  %4 = amp.reduce_scatter %open along 1 : tensor<?x4xf32> to tensor<?x1xf32>
  // CHECK: amp.all_gather %{{.*}} along 0 : tensor<2x4xf16> to tensor<8x4xf16>
  %5 = amp.all_gather %part along 0 : tensor<2x4xf16> to tensor<8x4xf16>
  // CHECK: amp.reduce_scatter %{{.*}} : tensor<8x4xf32> to tensor<11xf32>
  %8 = amp.reduce_scatter %a : tensor<8x4xf32> to tensor<11xf32>
  // CHECK: amp.all_gather %{{.*}} : tensor<11xf32> to tensor<8x4xf32>
  %9 = amp.all_gather %flat : tensor<11xf32> to tensor<8x4xf32>
  // CHECK: amp.rank_part %{{.*}} : tensor<8x4xf32> to tensor<11xf32>
  %10 = amp.rank_part %a : tensor<8x4xf32> to tensor<11xf32>
  // CHECK: amp.rank_part %{{.*}} along 1 : tensor<8x4xf32> to tensor<8x2xf32>
  %11 = amp.rank_part %a along 1 : tensor<8x4xf32> to tensor<8x2xf32>
  // CHECK: amp.divide_by_ranks %{{.*}} : tensor<8x4xf32>
  %6 = amp.divide_by_ranks %a : tensor<8x4xf32>
  // CHECK: amp.divide_by_ranks %{{.*}} of 4 : tensor<?xbf16>
  %7 = amp.divide_by_ranks %b of 4 : tensor<?xbf16>
  return
}

// The parts of states.
// CHECK-LABEL: func.func @state(
// CHECK-SAME: tensor<11xf32> {amp.init = #amp.init<kaiming_uniform>, amp.name = "w", amp.part_of = tensor<8x4xf32>, amp.role = "parameter"}
func.func @state(%w: tensor<11xf32> {amp.role = "parameter", amp.name = "w", amp.part_of = tensor<8x4xf32>, amp.init = #amp.init<kaiming_uniform>}) {
  return
}
