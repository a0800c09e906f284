// The report of memory has the bytes of one rank, and those that the ranks divide: masters and
// velocities of two weights of 8192 elements, in f32.
//
// RUN: amp-opt %amp_src_root/test/Models/digits-mlp.mlir --amp-training-pipeline="precision=fp16 master-weights=copy data-parallel shard-optimizer=4" --train-set-batch=batch-size=16 --train-report-memory -o /dev/null | FileCheck %s
// RUN: amp-opt %amp_src_root/test/Models/digits-mlp.mlir --amp-training-pipeline="precision=fp16 master-weights=copy data-parallel shard-optimizer=4" --train-set-batch=batch-size=16 --train-report-memory=json -o /dev/null | FileCheck %s --check-prefix=JSON
// RUN: amp-opt %amp_src_root/test/Models/digits-mlp.mlir --amp-training-pipeline="precision=fp16 master-weights=copy data-parallel" --train-set-batch=batch-size=16 --train-report-memory -o /dev/null | FileCheck %s --check-prefix=WHOLE
//
// CHECK: optimizer state {{ *}}19752
// CHECK: each rank keeps 32768 bytes of 131072 that the ranks divide
// WHOLE: optimizer state {{ *}}68904
// WHOLE-NOT: each rank keeps
// JSON: "parameters": 17226
// JSON-NEXT: "part_bytes": 32768
// JSON-NEXT: "divided_bytes": 131072
