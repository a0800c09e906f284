// RUN: amp-test-opt %s --test-buffer-liveness --verify-diagnostics

// Two live at once, each a multiple of its alignment.
// expected-remark @+1 {{allocates 192 bytes at most}}
func.func @sequence() {
  %a = memref.alloc() {alignment = 64 : i64} : memref<17xf32>
  %b = memref.alloc() {alignment = 64 : i64} : memref<f32>
  memref.dealloc %a : memref<17xf32>
  %c = memref.alloc() : memref<4x3xi1>
  memref.dealloc %b : memref<f32>
  memref.dealloc %c : memref<4x3xi1>
  return
}

// Memory that a callee frees counts while it runs. Memory that it leaves counts
// afterwards.
// expected-remark @+1 {{allocates 448 bytes at most}}
func.func @calls() {
  %a = memref.alloc() {alignment = 64 : i64} : memref<64xf32>
  call @sequence() : () -> ()
  %b = call @leaves() : () -> memref<16xbf16>
  memref.dealloc %a : memref<64xf32>
  memref.dealloc %b : memref<16xbf16>
  return
}
// expected-remark @+1 {{allocates 64 bytes at most}}
func.func private @leaves() -> memref<16xbf16> {
  %a = memref.alloc() {alignment = 64 : i64} : memref<16xbf16>
  return %a : memref<16xbf16>
}

// The larger branch; what only one frees is as if it were not freed.
// expected-remark @+1 {{allocates 384 bytes at most}}
func.func @branches(%condition: i1) {
  %a = memref.alloc() {alignment = 64 : i64} : memref<16xf32>
  scf.if %condition {
    %b = memref.alloc() {alignment = 64 : i64} : memref<32xf32>
    memref.dealloc %b : memref<32xf32>
    memref.dealloc %a : memref<16xf32>
  } else {
    %b = memref.alloc() {alignment = 64 : i64} : memref<64xf32>
    memref.dealloc %b : memref<64xf32>
  }
  %c = memref.alloc() {alignment = 64 : i64} : memref<72xf32>
  memref.dealloc %c : memref<72xf32>
  return
}

// Each iteration frees the memory of the previous one.
// expected-remark @+1 {{allocates 128 bytes at most}}
func.func @loop(%n: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %a = memref.alloc() {alignment = 64 : i64} : memref<8xf32>
  %r = scf.for %i = %zero to %n step %one iter_args(%x = %a) -> memref<8xf32> {
    %b = memref.alloc() {alignment = 64 : i64} : memref<8xf32>
    memref.dealloc %x : memref<8xf32>
    scf.yield %b : memref<8xf32>
  }
  memref.dealloc %r : memref<8xf32>
  return
}

// expected-remark @+1 {{allocates what depends on values}}
func.func @grows(%n: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  scf.for %i = %zero to %n step %one {
    %b = memref.alloc() : memref<8xf32>
  }
  return
}

// expected-remark @+1 {{allocates what depends on values}}
func.func @dynamic(%n: index) {
  %a = memref.alloc(%n) : memref<?xf32>
  memref.dealloc %a : memref<?xf32>
  return
}

// expected-remark @+1 {{allocates what depends on values}}
func.func @recursive() {
  call @recursive() : () -> ()
  return
}
