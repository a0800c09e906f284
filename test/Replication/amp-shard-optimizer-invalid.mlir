// RUN: not amp-opt %s --amp-shard-optimizer=ranks=0 2>&1 | FileCheck %s --check-prefix=RANKS
// RUN: not amp-opt %s --amp-shard-optimizer=min-elements=0 2>&1 | FileCheck %s --check-prefix=ELEMENTS
// RUN: amp-opt %s --amp-shard-optimizer=ranks=2 --remarks-filter=amp -o /dev/null 2>&1 | FileCheck %s --check-prefix=BLOCKS
//
// RANKS: error: amp-shard-optimizer: expected 'ranks' to be positive, got 0
// ELEMENTS: error: amp-shard-optimizer: expected 'min-elements' to be positive, got 0
// BLOCKS: StateStaysWhole{{.*}}the state of the step stays whole: it has more than one block

func.func @blocks(%x: tensor<?x8xf32> {amp.role = "batch", amp.name = "x"}) {
  %sum = amp.all_reduce sum %x : tensor<?x8xf32>
  cf.br ^next
^next:
  return
}
