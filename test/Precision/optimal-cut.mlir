// The minimum cut against brute force on random functions: it costs the least,
// counted in the rewritten IR, and of several assignments of least cost it is
// the one with the most low slots.
//
// RUN: amp-test-opt %s --test-optimal-cut="count=2000 seed=1" -o /dev/null 2>&1 | FileCheck %s
//
// The test would prove little if there were no ties and no mixed assignments.
// CHECK-NOT: error
// CHECK: remark: 2000 functions, {{[0-9][0-9][0-9][0-9][0-9]+}} assignments, {{[0-9][0-9]+}} functions with several of least cost, {{[0-9][0-9][0-9]+}} with both types
