// With a target, the products that save more time than their copies take get
// 8-bit operands.
//
// RUN: amp-opt %s --auto-mixed-precision=precision=bf16 --amp-quantize-products='keep-last=0 target=h200' --remarks-filter=amp 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=WHY < %t.remarks
// RUN: amp-opt %s --auto-mixed-precision=precision=bf16 --amp-quantize-products='keep-last=0 target=b200' --remarks-filter=amp 2>&1 >/dev/null | FileCheck %s --check-prefix=B200
// RUN: amp-opt %s --auto-mixed-precision=precision=bf16 --amp-quantize-products='keep-last=0 target=h200 recipe=delayed' --remarks-filter=amp 2>&1 >/dev/null | FileCheck %s --check-prefix=DELAYED

// Three products share the copy of x. None of them alone would pay for it. The
// small product stays in 16 bits.
// CHECK-LABEL: func.func @shared(
// CHECK-COUNT-3: amp.scaled_matmul
// CHECK: train.matmul {{.*}}tensor<4096x64xf32>
// WHY: [Analysis] Copy {{.*}}Function=shared | Microseconds=31.457, Orders=1, ReadBytes=134217728, Readers=3, WrittenBytes=16777216
// WHY-COUNT-3: [Analysis] Copy {{.*}}Microseconds=15.729, Orders=1, ReadBytes=67108864, Readers=1, WrittenBytes=8388608
// WHY-COUNT-3: [Passed] Quantized {{.*}}Op=train.matmul, SavedMicroseconds=34.728
// WHY: [Missed] Kept16Bits {{.*}}Op=train.matmul, Reason="it saves less time on the target than its copies take", SavedMicroseconds=0.222
// WHY: [Missed] NotSelected {{.*}}Function=dynamic | Reason="extents of products are not known, so their times on the target are not, either"
// WHY: [Passed] Quantized {{.*}}Op=train.matmul

// CHECK-LABEL: func.func @dynamic(
// CHECK: amp.scaled_matmul

// A faster GPU with the same copies: no product pays for them.
// B200-NOT: Copy
// B200-COUNT-4: [Missed] Kept16Bits {{.*}}Function=shared {{.*}}it saves less time on the target

// A known scale needs no pass for the magnitude.
// DELAYED: Copy {{.*}}Function=shared | Microseconds=17.476, Orders=1, ReadBytes=67108864, Readers=3, WrittenBytes=16777216
func.func @shared(
    %x: tensor<4096x4096xf32> {amp.role = "batch", amp.name = "x"},
    %q: tensor<4096x2048xf32> {amp.role = "parameter", amp.name = "q"},
    %k: tensor<4096x2048xf32> {amp.role = "parameter", amp.name = "k"},
    %v: tensor<4096x2048xf32> {amp.role = "parameter", amp.name = "v"},
    %y: tensor<4096x256xf32> {amp.role = "batch", amp.name = "y"},
    %w: tensor<256x64xf32> {amp.role = "parameter", amp.name = "w"})
    -> (tensor<4096x2048xf32> {amp.prediction = "a"}, tensor<4096x2048xf32> {amp.prediction = "b"}, tensor<4096x2048xf32> {amp.prediction = "c"}, tensor<4096x64xf32> {amp.prediction = "d"}) {
  %a = train.matmul %x, %q : (tensor<4096x4096xf32>, tensor<4096x2048xf32>) -> tensor<4096x2048xf32>
  %b = train.matmul %x, %k : (tensor<4096x4096xf32>, tensor<4096x2048xf32>) -> tensor<4096x2048xf32>
  %c = train.matmul %x, %v : (tensor<4096x4096xf32>, tensor<4096x2048xf32>) -> tensor<4096x2048xf32>
  %d = train.matmul %y, %w : (tensor<4096x256xf32>, tensor<256x64xf32>) -> tensor<4096x64xf32>
  return %a, %b, %c, %d : tensor<4096x2048xf32>, tensor<4096x2048xf32>, tensor<4096x2048xf32>, tensor<4096x64xf32>
}

func.func @dynamic(
    %x: tensor<?x8xf32> {amp.role = "batch", amp.name = "x"},
    %w: tensor<8x8xf32> {amp.role = "parameter", amp.name = "w"})
    -> (tensor<?x8xf32> {amp.prediction = "a"}) {
  %a = train.matmul %x, %w : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
  return %a : tensor<?x8xf32>
}
