// Compares the minimum cut with brute force on random functions. No assignment
// costs less in the rewritten IR, and no assignment of equal cost has more low
// slots.
//
// RUN: amp-test-opt %s --test-optimal-cut="count=2000 seed=1" -o /dev/null 2>&1 | FileCheck %s
//
// The same for functions with linalg, tosa, tensors without contents and calls.
// RUN: amp-test-opt %s --test-optimal-cut="count=300 seed=1 upstream" -o /dev/null 2>&1 | FileCheck %s --check-prefix=UPSTREAM
//
// The functions must contain ties, mixed assignments, proofs and masks.
// CHECK-NOT: error
// CHECK: remark: 2000 functions, {{[0-9][0-9][0-9][0-9][0-9]+}} assignments, {{[0-9][0-9]+}} functions with several of least cost, {{[0-9][0-9][0-9]+}} with both types, {{[0-9][0-9]+}} slots that would gain nothing, {{[0-9]+}} with a range proof, {{[0-9]+}} with a mask
// UPSTREAM-NOT: error
// UPSTREAM: remark: 300 functions, {{[0-9][0-9][0-9][0-9]+}} assignments,
