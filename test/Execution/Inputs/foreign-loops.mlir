// A step of another compiler: rows that repeat, rows in reverse, and a parallel
// loop that reduces. 64 loops over 120,000 elements are enough work for several
// threads.

#id = affine_map<(i, j) -> (i, j)>
func.func @step(
    %w: tensor<100x400xf32> {amp.role = "parameter", amp.name = "w", amp.init = #amp.init<normal, value = 1.0>},
    %v: tensor<300x400xf32> {amp.role = "parameter", amp.name = "v", amp.init = #amp.init<zeros>},
    %s: tensor<f32> {amp.role = "parameter", amp.name = "s", amp.init = #amp.init<zeros>},
    %x: tensor<300x400xf32> {amp.role = "batch", amp.name = "x"})
    -> (tensor<100x400xf32> {amp.updates = "w"}, tensor<300x400xf32> {amp.updates = "v"},
        tensor<f32> {amp.updates = "s"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %factor = arith.constant 1.01 : f32
  %grown = scf.for %k = %c0 to %c64 step %c1 iter_args(%old = %x) -> tensor<300x400xf32> {
    %g = tensor.empty() : tensor<300x400xf32>
    %next = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%old : tensor<300x400xf32>) outs(%g : tensor<300x400xf32>) {
    ^bb0(%a: f32, %b: f32):
      %9 = arith.mulf %a, %factor : f32
      linalg.yield %9 : f32
    } -> tensor<300x400xf32>
    scf.yield %next : tensor<300x400xf32>
  }
  %e = tensor.empty() : tensor<300x400xf32>
  %0 = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i mod 100, j)>, affine_map<(i, j) -> (i floordiv 3, 399 - j)>,
                       affine_map<(i, j) -> (299 - i, j)>, #id],
      iterator_types = ["parallel", "parallel"]}
      ins(%w, %w, %grown : tensor<100x400xf32>, tensor<100x400xf32>, tensor<300x400xf32>)
      outs(%e : tensor<300x400xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    %1 = arith.mulf %a, %b : f32
    %2 = arith.addf %1, %c : f32
    linalg.yield %2 : f32
  } -> tensor<300x400xf32>
  %f = tensor.empty() : tensor<100x400xf32>
  %3 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%w : tensor<100x400xf32>) outs(%f : tensor<100x400xf32>) {
  ^bb0(%a: f32, %b: f32):
    %4 = arith.mulf %a, %a : f32
    linalg.yield %4 : f32
  } -> tensor<100x400xf32>
  %c300 = arith.constant 300 : index
  %c400 = arith.constant 400 : index
  %zero = arith.constant 0.0 : f32
  %5 = scf.parallel (%i, %j) = (%c0, %c0) to (%c300, %c400) step (%c1, %c1) init (%zero) -> f32 {
    %6 = tensor.extract %x[%i, %j] : tensor<300x400xf32>
    scf.reduce(%6 : f32) {
    ^bb0(%l: f32, %r: f32):
      %7 = arith.addf %l, %r : f32
      scf.reduce.return %7 : f32
    }
  }
  %8 = tensor.from_elements %5 : tensor<f32>
  return %3, %0, %8 : tensor<100x400xf32>, tensor<300x400xf32>, tensor<f32>
}
