// The minimum cut against brute force on random functions: it costs the least,
// counted in the rewritten IR, and of several assignments of least cost it is
// the one with the most low slots.
//
// RUN: amp-test-opt %s --test-optimal-cut="count=2000 seed=1" -o /dev/null 2>&1 | FileCheck %s
//
// The same for functions with linalg, tosa, tensors without contents and calls.
// RUN: amp-test-opt %s --test-optimal-cut="count=300 seed=1 upstream" -o /dev/null 2>&1 | FileCheck %s --check-prefix=UPSTREAM
//
// The test would prove little if there were no ties, no mixed assignments, no proofs and no masks.
// CHECK-NOT: error
// CHECK: remark: 2000 functions, {{[0-9][0-9][0-9][0-9][0-9]+}} assignments, {{[0-9][0-9]+}} functions with several of least cost, {{[0-9][0-9][0-9]+}} with both types, {{[0-9][0-9]+}} slots that would gain nothing, {{[0-9]+}} with a range proof, {{[0-9]+}} with a mask
// UPSTREAM-NOT: error
// UPSTREAM: remark: 300 functions, {{[0-9][0-9][0-9][0-9]+}} assignments,
