// A function of memrefs works in place on the arrays it is given, scalars and
// 16-bit floats included; arrays that do not fit are refused.

// RUN: rm -rf %t && mkdir %t
// RUN: mlir-opt %s --convert-scf-to-cf --expand-strided-metadata --convert-to-llvm --reconcile-unrealized-casts -o %t/llvm.mlir
// RUN: %python -c "import numpy as np; np.savez('%t/in.npz', x=np.arange(12, dtype=np.float32).reshape(3, 4), s=np.float32(0.5), h=np.ones((3, 4), np.float16), n=np.int64(7))"
// RUN: amp-execution-test jit %t/llvm.mlir step %t/out.npz %t/in.npz
// RUN: %python -c "import numpy as np; f = np.load('%t/out.npz'); x = np.arange(12).reshape(3, 4) * 0.5; assert (f['x'] == x).all(); assert f['h'].dtype == np.float16 and (f['h'] == x + 1).all(); assert f['n'] == 8"
//
// It runs again on the current arrays for each line that it reads.
// RUN: cp %t/in.npz %t/again.npz
// RUN: printf '\n\n' | amp-execution-test jit %t/llvm.mlir step %t/again.npz %t/again.npz again | count 3
// RUN: %python -c "import numpy as np; f = np.load('%t/again.npz'); assert (f['x'] == np.arange(12).reshape(3, 4) / 8).all(); assert f['n'] == 10"
//
// RUN: not amp-execution-test jit %t/llvm.mlir nothing %t/out2.npz %t/in.npz 2>&1 | FileCheck %s
// CHECK: error: cannot compile 'nothing'

func.func @step(%x: memref<3x4xf32>, %s: memref<f32>, %h: memref<3x4xf16>, %n: memref<i64>) attributes {llvm.bareptr} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %one = arith.constant 1 : i64
  %factor = memref.load %s[] : memref<f32>
  scf.for %i = %c0 to %c3 step %c1 {
    scf.for %j = %c0 to %c4 step %c1 {
      %a = memref.load %x[%i, %j] : memref<3x4xf32>
      %b = arith.mulf %a, %factor : f32
      memref.store %b, %x[%i, %j] : memref<3x4xf32>
      %c = memref.load %h[%i, %j] : memref<3x4xf16>
      %d = arith.extf %c : f16 to f32
      %e = arith.addf %b, %d : f32
      %f = arith.truncf %e : f32 to f16
      memref.store %f, %h[%i, %j] : memref<3x4xf16>
    }
  }
  %old = memref.load %n[] : memref<i64>
  %new = arith.addi %old, %one : i64
  memref.store %new, %n[] : memref<i64>
  return
}
