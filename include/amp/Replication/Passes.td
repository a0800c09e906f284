//===- Passes.td - The check of ranks ----------------------*- tablegen -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_REPLICATION_PASSES_TD
#define AMP_REPLICATION_PASSES_TD

include "mlir/Pass/PassBase.td"

def CheckReplicationPass : Pass<"amp-check-replication"> {
  let summary = "Prove that all ranks of a data-parallel step keep equal state";
  let description = [{
    In a data-parallel step each of N ranks runs the same program on its part of
    the batch. The check finds for each value whether it is

    - *replicated*: all ranks have the same value,
    - *varying*: each rank has its own, such as its part of the batch,
    - *partial*: the ranks have summands of one total, such as the gradient of a
      weight from a part of the batch.

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
    dimension. All others are replicated. In a function with an
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

#endif // AMP_REPLICATION_PASSES_TD
