//===- Passes.td - Passes for several ranks ----------------*- tablegen -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_REPLICATION_PASSES_TD
#define AMP_REPLICATION_PASSES_TD

include "amp/Support/CheckedPass.td"

def CheckReplicationPass : CheckedPass<"amp-check-replication"> {
  let summary = "Prove that all ranks of a data-parallel step keep equal state";
  let description = [{
    In a data-parallel step each of N ranks runs the same program on its part of
    the batch. The check finds for each value whether it is

    - *replicated*: all ranks have the same value,
    - *varying*: each rank has its own, such as its part of the batch,
    - *partial*: the ranks have summands of one total, such as the gradient of a
      weight from a part of the batch,
    - *sharded*: each rank has a part of one tensor, such as the state of an
      optimizer after `amp-shard-optimizer`.

    It also counts the power of N by which a value is multiplied in comparison
    to one rank that computes the whole batch. The gradient of a mean over the
    part of a batch, summed over all ranks, is N times the gradient of the mean
    over the whole batch.

    It is an error if

    - an optimizer, a clip, a norm or the update of a loss scale reads a value
      that is not replicated, or that is multiplied by a power of N,
    - state is updated with such a value (`amp.updates`), because a guard varies
      or for any other reason,
    - a collective is in a conditional, or in a loop whose iterations vary,
    - a result of `sdy.manual_computation` is declared replicated and is not.

    Arguments of the role `batch` are divided between the ranks along their first
    dimension. Each rank has its part of arguments with `amp.part_of`
    (`amp-shard-optimizer`). All others are replicated. In a function with an
    `sdy.manual_computation` the shardings of this operation decide.

    Operations state their effect through `ReplicationOpInterface`. StableHLO has
    built-in rules, and `rules` gives those of other dialects. An operation
    without a rule has replicated results if all its operands are replicated.

    A metric that is not reduced causes a remark (`LocalMetric`). The module does
    not change. In this example the all-reduce is missing:

    ```mlir
    %g = train.matmul %x, %dy {transpose_a} : ...
    %w1 = train.sgd %w, %g, %lr : ...
    ```

    ```
    error: 'train.sgd' op operand 1 is a partial sum over the ranks, expected a
    value that all ranks have: an optimizer steps on the gradient of the whole
    batch
    note: the partial sum comes from this 'train.matmul'
    ```
  }];
  let options = [
    Option<"ranks", "ranks", "int64_t", /*default=*/"0",
           "The number of ranks; 0 takes that of the collectives of StableHLO, "
           "and does not count divisions if there are none">,
    ListOption<"rules", "rules", "std::string",
               "GLOB=RULE for operations without ReplicationOpInterface, with a "
               "rule of sum, product, quotient, map, all-reduce, all-gather, "
               "rank and consumer">,
  ];
  let statistics = [
    Statistic<"numCollectives", "collectives", "Collectives in checked functions">,
    Statistic<"numRejected", "steps-rejected", "Functions that break a rule">,
  ];
}

def DataParallelPass : CheckedPass<"amp-data-parallel"> {
  let summary = "Insert the reductions of a data-parallel step";
  let description = [{
    Turns a step of one rank into a step that N ranks execute together, each on
    its part of the batch. N need not be known. The input is differentiated and
    has its types and its loss scale; the output passes `amp-check-replication`.

    - *Gradients*: the ranks add the gradient of each parameter as soon as it is
      final, after the last micro-batch. Gradients travel in buckets in the order
      of the backward pass. A bucket ends with a layer, that is, with the last
      parameter that shares the part of its name before the last dot. Gradients
      in a low type are added in f32. `reduce-type=low` exchanges all of them in
      the low type of the step.
    - *Losses*: a loss that is a mean over the rows of a rank has N times the
      gradient. The pass divides the seed of its backward pass by N. All gradients
      are then the same as with one rank and the whole batch.
    - *Counts*: the ranks add numbers that depend only on the data, such as the
      number of labels that are not ignored, before a loss divides by them.
    - *Flags*: `amp.unscale` reads reduced gradients, which are equal on all
      ranks. Its flag is therefore equal on all ranks without a collective. The
      same holds for norms of gradients.
    - *Magnitudes* that decide scales of later steps, such as the loss scale of
      each layer: the ranks exchange their maxima in one all-reduce.
    - *Metrics* that are sums or means, and model state, such as the statistics
      of batch norm, travel with the last bucket. A rank has statistics of its
      own part; the new state is the mean over the ranks. With
      `batch-norm=synchronized` a batch norm takes the statistics of all ranks,
      by two all-reduces forward and one backward.
    - *Random numbers*: dropout gets the attribute `amp.divided_along`. Elements
      then have the random numbers of their places in the whole batch.

    A step with collectives does not change, and neither does a function without
    a batch.

    ```mlir
    %seed = amp.gradient_seed "loss" : tensor<f32>
    %dy = train.mse_grad %y, %target, %seed : ...
    %g = train.matmul %x, %dy {transpose_a, amp.gradient_of = ["w"]} : ...
    // becomes
    %seed = amp.gradient_seed "loss" : tensor<f32>
    %part = amp.divide_by_ranks %seed : tensor<f32>
    %dy = train.mse_grad %y, %target, %part : ...
    %own = train.matmul %x, %dy {transpose_a} : ...
    %sum:2 = amp.all_reduce sum %own, %loss
        {amp.gradient_of = ["w", ""]} : tensor<8x4xf32>, tensor<f32>
    ```
  }];
  let options = [
    Option<"bucketBytes", "bucket-bytes", "int64_t", /*default=*/"26214400",
           "The least bytes of a bucket of gradients, which ends with a layer">,
    Option<"reduceType", "reduce-type", "std::string", /*default=*/"\"f32\"",
           "The type of exchanged gradients: f32, or low for that of the step">,
    Option<"batchNorm", "batch-norm", "std::string", /*default=*/"\"local\"",
           "The statistics of a batch norm: local for those of a rank's part of "
           "the batch, or synchronized">,
  ];
  let statistics = [
    Statistic<"numGradients", "gradients", "Gradients that ranks add">,
    Statistic<"numCollectives", "collectives", "All-reduces inserted">,
    Statistic<"numSeeds", "seeds", "Starts of backward passes divided by N">,
    Statistic<"numCounts", "counts", "Counts that ranks add">,
    Statistic<"numSynchronized", "synchronized",
              "Operations that got the statistics of all ranks">,
    Statistic<"numRandom", "random", "Operations with divided random numbers">,
  ];
  let dependentDialects = ["::mlir::amp::AMPDialect"];
}

def SetRanksPass : CheckedPass<"amp-set-ranks"> {
  let summary = "Fix the number of ranks of a step";
  let description = [{
    Adds the number of ranks to `amp.divide_by_ranks`, and to `amp.divided_along`
    also the number of this rank. With one rank, collectives and divisions by N
    disappear: the step is one without ranks.

    ```mlir
    %part = amp.divide_by_ranks %seed : tensor<f32>
    // with ranks=4
    %part = amp.divide_by_ranks %seed of 4 : tensor<f32>
    ```

    It is an error if an operation has another number of ranks, or shapes that do
    not fit the number.
  }];
  let options = [
    Option<"ranks", "ranks", "int64_t", /*default=*/"1", "The number of ranks">,
    Option<"rank", "rank", "int64_t", /*default=*/"0",
           "The number of the rank that runs the step">,
  ];
  let statistics = [
    Statistic<"numRemoved", "removed", "Operations removed for one rank">,
  ];
}

def ShardOptimizerPass : CheckedPass<"amp-shard-optimizer"> {
  let summary = "Divide the state of optimizers between ranks";
  let description = [{
    Lets each of N ranks keep and update a part of the masters and the moments of
    a data-parallel step (`amp-data-parallel`). This is known as ZeRO stage 1. The
    pass runs before `amp-set-ranks`.

    - The sum of a gradient over the ranks becomes an `amp.reduce_scatter`: rank
      i gets the elements of part i. A whole gradient is not needed after it, so
      its memory is free for other gradients (stage 2).
    - Operations that work element by element, such as optimizers, casts and
      guards, work on the parts. Parts are flat: they have one dimension, in
      row-major order, and zeros after the last element. All ranks have parts of
      one size, for every shape.
    - A state that only this update reads becomes a part, with the attribute
      `amp.part_of`. Initial values and state files remain those of the whole
      tensor.
    - `amp.all_gather` joins the new parameters for the next step: with masters
      (`master-weights=copy`) the low copies, which are half of the bytes. It is
      outside of the guard, so it runs on skipped steps too.
    - The flag of finite gradients covers the gradients of all ranks. A clip by the global
      norm and the metric of `gradient-norm` add the squares of all parts. The
      largest magnitude of a layer, which decides its scale, covers all parts.

    A parameter stays whole on all ranks if another operation reads the whole
    gradient, such as the products of Muon, if no state becomes a part, or if it
    has few elements. A remark `NotSharded` says which reason it is.

    ```mlir
    %g = amp.all_reduce sum %own {amp.gradient_of = ["w"]} : tensor<8x4xf32>
    %w1, %m1 = train.sgd %w, %g, %lr, %m {momentum = 0.9 : f64} : ...
    // with ranks=4 becomes
    %g = amp.reduce_scatter %own {amp.gradient_of = ["w"]}
        : tensor<8x4xf32> to tensor<8xf32>
    %part = amp.rank_part %w : tensor<8x4xf32> to tensor<8xf32>
    %new, %m1 = train.sgd %part, %g, %lr, %m {momentum = 0.9 : f64} : ...
    %w1 = amp.all_gather %new : tensor<8xf32> to tensor<8x4xf32>
    ```
  }];
  let options = [
    Option<"ranks", "ranks", "int64_t", /*default=*/"1", "The number of ranks">,
    Option<"minElements", "min-elements", "int64_t", /*default=*/"1024",
           "The least number of elements of a parameter that is divided">,
  ];
  let statistics = [
    Statistic<"numSharded", "sharded", "Parameters whose update is divided">,
    Statistic<"numGathered", "gathered", "Tensors that are joined">,
  ];
  let dependentDialects = ["::mlir::amp::AMPDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect"];
}

#endif // AMP_REPLICATION_PASSES_TD
