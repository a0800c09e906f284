// RUN: not amp-opt %s --amp-data-parallel=reduce-type=f8 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not amp-opt %s --amp-data-parallel=bucket-bytes=0 2>&1 | FileCheck %s --check-prefix=BYTES
// RUN: not amp-opt %s --amp-data-parallel=batch-norm=global 2>&1 | FileCheck %s --check-prefix=NORM
// RUN: not amp-opt %s --amp-data-parallel 2>&1 | FileCheck %s --check-prefix=BLOCKS
//
// TYPE: error: amp-data-parallel: expected 'reduce-type' to be f32 or low, got 'f8'
// BYTES: error: amp-data-parallel: expected 'bucket-bytes' to be positive, got 0
// NORM: error: amp-data-parallel: expected 'batch-norm' to be local or synchronized, got 'global'
// BLOCKS: error: expected a step with a single block; control flow must be structured (scf)

func.func @blocks(%x: tensor<?x8xf32> {amp.role = "batch", amp.name = "x"}) {
  cf.br ^next
^next:
  return
}
