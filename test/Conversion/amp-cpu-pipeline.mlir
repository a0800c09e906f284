// RUN: amp-opt %s --amp-cpu-pipeline=to-llvm=false | FileCheck %s --check-prefix=LOOPS
// RUN: amp-opt %s --amp-cpu-pipeline | FileCheck %s --check-prefix=LLVM --implicit-check-not=unrealized_conversion_cast
// RUN: amp-opt %s --pass-pipeline='builtin.module(amp-cpu-pipeline{to-llvm=true})' | FileCheck %s --check-prefix=LLVM

// The mixed-precision step of the example keeps its activations in low buffers
// and writes parameters where they are.
// RUN: amp-opt %models/digits-mlp.mlir --amp-training-pipeline=precision=bf16 --train-set-batch=batch-size=32 \
// RUN:   | amp-opt --amp-cpu-pipeline=to-llvm=false | FileCheck %s --check-prefix=MLP
// MLP-LABEL: func.func @step_cpu
// MLP-SAME: memref<64x128xf32>
// MLP-SAME: llvm.bareptr
// MLP-DAG: memref.alloc() {{.*}} : memref<32x128xbf16>
// MLP-DAG: memref.alloc() {{.*}} : memref<64x128xbf16>
// MLP-NOT: memref.copy {{.*}} : memref<64x128xf32> to
// MLP: return{{$}}
// MLP: vector.fma

// The step calls a function for each nest. The cast, the product and the
// exponential are three nests.
// LOOPS-LABEL: func.func @step_cpu
// LOOPS-SAME: (%[[W:.*]]: memref<4x8xf32> {llvm.noalias}, %{{.*}}: memref<2x4xf16> {llvm.noalias}, %{{.*}}: memref<2x8xf16> {llvm.noalias})
// LOOPS-NOT: linalg.
// LOOPS: call @step_cpu_kernel
// LOOPS: memref.dealloc
// LOOPS: return{{$}}
// LOOPS-DAG: arith.truncf {{.*}} : f32 to f16
// LOOPS-DAG: vector.fma
// LOOPS-DAG: math.exp

// LLVM: llvm.func @step_cpu(%{{.*}}: !llvm.ptr {llvm.noalias}, %{{.*}}: !llvm.ptr {llvm.noalias}, %{{.*}}: !llvm.ptr {llvm.noalias})
// LLVM: llvm.intr.fmuladd
func.func @step(%w: tensor<4x8xf32> {amp.role = "parameter", amp.name = "w"},
                %x: tensor<2x4xf16> {amp.role = "batch", amp.name = "x"})
    -> (tensor<4x8xf32> {amp.updates = "w"}, tensor<2x8xf16> {amp.prediction = "y"}) {
  %0 = amp.cast %w : tensor<4x8xf32> to tensor<4x8xf16>
  %1 = func.call @product(%x, %0) : (tensor<2x4xf16>, tensor<4x8xf16>) -> tensor<2x8xf16>
  %2 = train.exp %w : tensor<4x8xf32>
  return %2, %1 : tensor<4x8xf32>, tensor<2x8xf16>
}
func.func private @product(%x: tensor<2x4xf16>, %w: tensor<4x8xf16>) -> tensor<2x8xf16> {
  %0 = train.linear %x, %w : (tensor<2x4xf16>, tensor<4x8xf16>) -> tensor<2x8xf16>
  return %0 : tensor<2x8xf16>
}
