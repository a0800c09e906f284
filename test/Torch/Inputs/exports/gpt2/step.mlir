func.func @step(
    %p0: tensor<31x16xf32> {amp.role = "parameter", amp.name = "wte.weight", amp.init = #amp.init<zeros>} loc("wte.weight"),
    %p1: tensor<12x16xf32> {amp.role = "parameter", amp.name = "wpe.weight", amp.init = #amp.init<zeros>} loc("wpe.weight"),
    %p2: tensor<16xf32> {amp.role = "parameter", amp.name = "h.0.ln_1.weight", amp.init = #amp.init<zeros>} loc("h.0.ln_1.weight"),
    %p3: tensor<16xf32> {amp.role = "parameter", amp.name = "h.0.ln_1.bias", amp.init = #amp.init<zeros>} loc("h.0.ln_1.bias"),
    %p4: tensor<16xf32> {amp.role = "parameter", amp.name = "h.0.ln_2.weight", amp.init = #amp.init<zeros>} loc("h.0.ln_2.weight"),
    %p5: tensor<16xf32> {amp.role = "parameter", amp.name = "h.0.ln_2.bias", amp.init = #amp.init<zeros>} loc("h.0.ln_2.bias"),
    %p6: tensor<48x16xf32> {amp.role = "parameter", amp.name = "h.0.qkv.weight", amp.init = #amp.init<zeros>} loc("h.0.qkv.weight"),
    %p7: tensor<48xf32> {amp.role = "parameter", amp.name = "h.0.qkv.bias", amp.init = #amp.init<zeros>} loc("h.0.qkv.bias"),
    %p8: tensor<16x16xf32> {amp.role = "parameter", amp.name = "h.0.proj.weight", amp.init = #amp.init<zeros>} loc("h.0.proj.weight"),
    %p9: tensor<16xf32> {amp.role = "parameter", amp.name = "h.0.proj.bias", amp.init = #amp.init<zeros>} loc("h.0.proj.bias"),
    %p10: tensor<64x16xf32> {amp.role = "parameter", amp.name = "h.0.fc.weight", amp.init = #amp.init<zeros>} loc("h.0.fc.weight"),
    %p11: tensor<64xf32> {amp.role = "parameter", amp.name = "h.0.fc.bias", amp.init = #amp.init<zeros>} loc("h.0.fc.bias"),
    %p12: tensor<16x64xf32> {amp.role = "parameter", amp.name = "h.0.out.weight", amp.init = #amp.init<zeros>} loc("h.0.out.weight"),
    %p13: tensor<16xf32> {amp.role = "parameter", amp.name = "h.0.out.bias", amp.init = #amp.init<zeros>} loc("h.0.out.bias"),
    %p14: tensor<16xf32> {amp.role = "parameter", amp.name = "h.1.ln_1.weight", amp.init = #amp.init<zeros>} loc("h.1.ln_1.weight"),
    %p15: tensor<16xf32> {amp.role = "parameter", amp.name = "h.1.ln_1.bias", amp.init = #amp.init<zeros>} loc("h.1.ln_1.bias"),
    %p16: tensor<16xf32> {amp.role = "parameter", amp.name = "h.1.ln_2.weight", amp.init = #amp.init<zeros>} loc("h.1.ln_2.weight"),
    %p17: tensor<16xf32> {amp.role = "parameter", amp.name = "h.1.ln_2.bias", amp.init = #amp.init<zeros>} loc("h.1.ln_2.bias"),
    %p18: tensor<48x16xf32> {amp.role = "parameter", amp.name = "h.1.qkv.weight", amp.init = #amp.init<zeros>} loc("h.1.qkv.weight"),
    %p19: tensor<48xf32> {amp.role = "parameter", amp.name = "h.1.qkv.bias", amp.init = #amp.init<zeros>} loc("h.1.qkv.bias"),
    %p20: tensor<16x16xf32> {amp.role = "parameter", amp.name = "h.1.proj.weight", amp.init = #amp.init<zeros>} loc("h.1.proj.weight"),
    %p21: tensor<16xf32> {amp.role = "parameter", amp.name = "h.1.proj.bias", amp.init = #amp.init<zeros>} loc("h.1.proj.bias"),
    %p22: tensor<64x16xf32> {amp.role = "parameter", amp.name = "h.1.fc.weight", amp.init = #amp.init<zeros>} loc("h.1.fc.weight"),
    %p23: tensor<64xf32> {amp.role = "parameter", amp.name = "h.1.fc.bias", amp.init = #amp.init<zeros>} loc("h.1.fc.bias"),
    %p24: tensor<16x64xf32> {amp.role = "parameter", amp.name = "h.1.out.weight", amp.init = #amp.init<zeros>} loc("h.1.out.weight"),
    %p25: tensor<16xf32> {amp.role = "parameter", amp.name = "h.1.out.bias", amp.init = #amp.init<zeros>} loc("h.1.out.bias"),
    %p26: tensor<16xf32> {amp.role = "parameter", amp.name = "ln_f.weight", amp.init = #amp.init<zeros>} loc("ln_f.weight"),
    %p27: tensor<16xf32> {amp.role = "parameter", amp.name = "ln_f.bias", amp.init = #amp.init<zeros>} loc("ln_f.bias"),
    %s0: tensor<f32> {amp.role = "optimizer_state", amp.name = "step", amp.init = #amp.init<zeros>} loc("step"),
    %s1: tensor<31x16xf32> {amp.role = "optimizer_state", amp.name = "wte.weight.exp_avg", amp.init = #amp.init<zeros>} loc("wte.weight.exp_avg"),
    %s2: tensor<31x16xf32> {amp.role = "optimizer_state", amp.name = "wte.weight.exp_avg_sq", amp.init = #amp.init<zeros>} loc("wte.weight.exp_avg_sq"),
    %s3: tensor<12x16xf32> {amp.role = "optimizer_state", amp.name = "wpe.weight.exp_avg", amp.init = #amp.init<zeros>} loc("wpe.weight.exp_avg"),
    %s4: tensor<12x16xf32> {amp.role = "optimizer_state", amp.name = "wpe.weight.exp_avg_sq", amp.init = #amp.init<zeros>} loc("wpe.weight.exp_avg_sq"),
    %s5: tensor<48x16xf32> {amp.role = "optimizer_state", amp.name = "h.0.qkv.weight.exp_avg", amp.init = #amp.init<zeros>} loc("h.0.qkv.weight.exp_avg"),
    %s6: tensor<48x16xf32> {amp.role = "optimizer_state", amp.name = "h.0.qkv.weight.exp_avg_sq", amp.init = #amp.init<zeros>} loc("h.0.qkv.weight.exp_avg_sq"),
    %s7: tensor<16x16xf32> {amp.role = "optimizer_state", amp.name = "h.0.proj.weight.exp_avg", amp.init = #amp.init<zeros>} loc("h.0.proj.weight.exp_avg"),
    %s8: tensor<16x16xf32> {amp.role = "optimizer_state", amp.name = "h.0.proj.weight.exp_avg_sq", amp.init = #amp.init<zeros>} loc("h.0.proj.weight.exp_avg_sq"),
    %s9: tensor<64x16xf32> {amp.role = "optimizer_state", amp.name = "h.0.fc.weight.exp_avg", amp.init = #amp.init<zeros>} loc("h.0.fc.weight.exp_avg"),
    %s10: tensor<64x16xf32> {amp.role = "optimizer_state", amp.name = "h.0.fc.weight.exp_avg_sq", amp.init = #amp.init<zeros>} loc("h.0.fc.weight.exp_avg_sq"),
    %s11: tensor<16x64xf32> {amp.role = "optimizer_state", amp.name = "h.0.out.weight.exp_avg", amp.init = #amp.init<zeros>} loc("h.0.out.weight.exp_avg"),
    %s12: tensor<16x64xf32> {amp.role = "optimizer_state", amp.name = "h.0.out.weight.exp_avg_sq", amp.init = #amp.init<zeros>} loc("h.0.out.weight.exp_avg_sq"),
    %s13: tensor<48x16xf32> {amp.role = "optimizer_state", amp.name = "h.1.qkv.weight.exp_avg", amp.init = #amp.init<zeros>} loc("h.1.qkv.weight.exp_avg"),
    %s14: tensor<48x16xf32> {amp.role = "optimizer_state", amp.name = "h.1.qkv.weight.exp_avg_sq", amp.init = #amp.init<zeros>} loc("h.1.qkv.weight.exp_avg_sq"),
    %s15: tensor<16x16xf32> {amp.role = "optimizer_state", amp.name = "h.1.proj.weight.exp_avg", amp.init = #amp.init<zeros>} loc("h.1.proj.weight.exp_avg"),
    %s16: tensor<16x16xf32> {amp.role = "optimizer_state", amp.name = "h.1.proj.weight.exp_avg_sq", amp.init = #amp.init<zeros>} loc("h.1.proj.weight.exp_avg_sq"),
    %s17: tensor<64x16xf32> {amp.role = "optimizer_state", amp.name = "h.1.fc.weight.exp_avg", amp.init = #amp.init<zeros>} loc("h.1.fc.weight.exp_avg"),
    %s18: tensor<64x16xf32> {amp.role = "optimizer_state", amp.name = "h.1.fc.weight.exp_avg_sq", amp.init = #amp.init<zeros>} loc("h.1.fc.weight.exp_avg_sq"),
    %s19: tensor<16x64xf32> {amp.role = "optimizer_state", amp.name = "h.1.out.weight.exp_avg", amp.init = #amp.init<zeros>} loc("h.1.out.weight.exp_avg"),
    %s20: tensor<16x64xf32> {amp.role = "optimizer_state", amp.name = "h.1.out.weight.exp_avg_sq", amp.init = #amp.init<zeros>} loc("h.1.out.weight.exp_avg_sq"),
    %s21: tensor<16xf32> {amp.role = "optimizer_state", amp.name = "h.0.ln_1.weight.exp_avg", amp.init = #amp.init<zeros>} loc("h.0.ln_1.weight.exp_avg"),
    %s22: tensor<16xf32> {amp.role = "optimizer_state", amp.name = "h.0.ln_1.weight.exp_avg_sq", amp.init = #amp.init<zeros>} loc("h.0.ln_1.weight.exp_avg_sq"),
    %s23: tensor<16xf32> {amp.role = "optimizer_state", amp.name = "h.0.ln_1.bias.exp_avg", amp.init = #amp.init<zeros>} loc("h.0.ln_1.bias.exp_avg"),
    %s24: tensor<16xf32> {amp.role = "optimizer_state", amp.name = "h.0.ln_1.bias.exp_avg_sq", amp.init = #amp.init<zeros>} loc("h.0.ln_1.bias.exp_avg_sq"),
    %s25: tensor<16xf32> {amp.role = "optimizer_state", amp.name = "h.0.ln_2.weight.exp_avg", amp.init = #amp.init<zeros>} loc("h.0.ln_2.weight.exp_avg"),
    %s26: tensor<16xf32> {amp.role = "optimizer_state", amp.name = "h.0.ln_2.weight.exp_avg_sq", amp.init = #amp.init<zeros>} loc("h.0.ln_2.weight.exp_avg_sq"),
    %s27: tensor<16xf32> {amp.role = "optimizer_state", amp.name = "h.0.ln_2.bias.exp_avg", amp.init = #amp.init<zeros>} loc("h.0.ln_2.bias.exp_avg"),
    %s28: tensor<16xf32> {amp.role = "optimizer_state", amp.name = "h.0.ln_2.bias.exp_avg_sq", amp.init = #amp.init<zeros>} loc("h.0.ln_2.bias.exp_avg_sq"),
    %s29: tensor<48xf32> {amp.role = "optimizer_state", amp.name = "h.0.qkv.bias.exp_avg", amp.init = #amp.init<zeros>} loc("h.0.qkv.bias.exp_avg"),
    %s30: tensor<48xf32> {amp.role = "optimizer_state", amp.name = "h.0.qkv.bias.exp_avg_sq", amp.init = #amp.init<zeros>} loc("h.0.qkv.bias.exp_avg_sq"),
    %s31: tensor<16xf32> {amp.role = "optimizer_state", amp.name = "h.0.proj.bias.exp_avg", amp.init = #amp.init<zeros>} loc("h.0.proj.bias.exp_avg"),
    %s32: tensor<16xf32> {amp.role = "optimizer_state", amp.name = "h.0.proj.bias.exp_avg_sq", amp.init = #amp.init<zeros>} loc("h.0.proj.bias.exp_avg_sq"),
    %s33: tensor<64xf32> {amp.role = "optimizer_state", amp.name = "h.0.fc.bias.exp_avg", amp.init = #amp.init<zeros>} loc("h.0.fc.bias.exp_avg"),
    %s34: tensor<64xf32> {amp.role = "optimizer_state", amp.name = "h.0.fc.bias.exp_avg_sq", amp.init = #amp.init<zeros>} loc("h.0.fc.bias.exp_avg_sq"),
    %s35: tensor<16xf32> {amp.role = "optimizer_state", amp.name = "h.0.out.bias.exp_avg", amp.init = #amp.init<zeros>} loc("h.0.out.bias.exp_avg"),
    %s36: tensor<16xf32> {amp.role = "optimizer_state", amp.name = "h.0.out.bias.exp_avg_sq", amp.init = #amp.init<zeros>} loc("h.0.out.bias.exp_avg_sq"),
    %s37: tensor<16xf32> {amp.role = "optimizer_state", amp.name = "h.1.ln_1.weight.exp_avg", amp.init = #amp.init<zeros>} loc("h.1.ln_1.weight.exp_avg"),
    %s38: tensor<16xf32> {amp.role = "optimizer_state", amp.name = "h.1.ln_1.weight.exp_avg_sq", amp.init = #amp.init<zeros>} loc("h.1.ln_1.weight.exp_avg_sq"),
    %s39: tensor<16xf32> {amp.role = "optimizer_state", amp.name = "h.1.ln_1.bias.exp_avg", amp.init = #amp.init<zeros>} loc("h.1.ln_1.bias.exp_avg"),
    %s40: tensor<16xf32> {amp.role = "optimizer_state", amp.name = "h.1.ln_1.bias.exp_avg_sq", amp.init = #amp.init<zeros>} loc("h.1.ln_1.bias.exp_avg_sq"),
    %s41: tensor<16xf32> {amp.role = "optimizer_state", amp.name = "h.1.ln_2.weight.exp_avg", amp.init = #amp.init<zeros>} loc("h.1.ln_2.weight.exp_avg"),
    %s42: tensor<16xf32> {amp.role = "optimizer_state", amp.name = "h.1.ln_2.weight.exp_avg_sq", amp.init = #amp.init<zeros>} loc("h.1.ln_2.weight.exp_avg_sq"),
    %s43: tensor<16xf32> {amp.role = "optimizer_state", amp.name = "h.1.ln_2.bias.exp_avg", amp.init = #amp.init<zeros>} loc("h.1.ln_2.bias.exp_avg"),
    %s44: tensor<16xf32> {amp.role = "optimizer_state", amp.name = "h.1.ln_2.bias.exp_avg_sq", amp.init = #amp.init<zeros>} loc("h.1.ln_2.bias.exp_avg_sq"),
    %s45: tensor<48xf32> {amp.role = "optimizer_state", amp.name = "h.1.qkv.bias.exp_avg", amp.init = #amp.init<zeros>} loc("h.1.qkv.bias.exp_avg"),
    %s46: tensor<48xf32> {amp.role = "optimizer_state", amp.name = "h.1.qkv.bias.exp_avg_sq", amp.init = #amp.init<zeros>} loc("h.1.qkv.bias.exp_avg_sq"),
    %s47: tensor<16xf32> {amp.role = "optimizer_state", amp.name = "h.1.proj.bias.exp_avg", amp.init = #amp.init<zeros>} loc("h.1.proj.bias.exp_avg"),
    %s48: tensor<16xf32> {amp.role = "optimizer_state", amp.name = "h.1.proj.bias.exp_avg_sq", amp.init = #amp.init<zeros>} loc("h.1.proj.bias.exp_avg_sq"),
    %s49: tensor<64xf32> {amp.role = "optimizer_state", amp.name = "h.1.fc.bias.exp_avg", amp.init = #amp.init<zeros>} loc("h.1.fc.bias.exp_avg"),
    %s50: tensor<64xf32> {amp.role = "optimizer_state", amp.name = "h.1.fc.bias.exp_avg_sq", amp.init = #amp.init<zeros>} loc("h.1.fc.bias.exp_avg_sq"),
    %s51: tensor<16xf32> {amp.role = "optimizer_state", amp.name = "h.1.out.bias.exp_avg", amp.init = #amp.init<zeros>} loc("h.1.out.bias.exp_avg"),
    %s52: tensor<16xf32> {amp.role = "optimizer_state", amp.name = "h.1.out.bias.exp_avg_sq", amp.init = #amp.init<zeros>} loc("h.1.out.bias.exp_avg_sq"),
    %s53: tensor<16xf32> {amp.role = "optimizer_state", amp.name = "ln_f.weight.exp_avg", amp.init = #amp.init<zeros>} loc("ln_f.weight.exp_avg"),
    %s54: tensor<16xf32> {amp.role = "optimizer_state", amp.name = "ln_f.weight.exp_avg_sq", amp.init = #amp.init<zeros>} loc("ln_f.weight.exp_avg_sq"),
    %s55: tensor<16xf32> {amp.role = "optimizer_state", amp.name = "ln_f.bias.exp_avg", amp.init = #amp.init<zeros>} loc("ln_f.bias.exp_avg"),
    %s56: tensor<16xf32> {amp.role = "optimizer_state", amp.name = "ln_f.bias.exp_avg_sq", amp.init = #amp.init<zeros>} loc("ln_f.bias.exp_avg_sq"),
    %lr0: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr.0", amp.init = #amp.init<constant, value = 0.001>} loc("lr.0"),
    %lr1: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr.1", amp.init = #amp.init<constant, value = 0.0005>} loc("lr.1"),
    %x0: tensor<?x12xi64> {amp.role = "batch", amp.name = "tokens"} loc("tokens"),
    %x1: tensor<?x12xi64> {amp.role = "batch", amp.name = "targets"} loc("targets"))
    -> (tensor<31x16xf32> {amp.updates = "wte.weight"},
        tensor<12x16xf32> {amp.updates = "wpe.weight"},
        tensor<16xf32> {amp.updates = "h.0.ln_1.weight"},
        tensor<16xf32> {amp.updates = "h.0.ln_1.bias"},
        tensor<16xf32> {amp.updates = "h.0.ln_2.weight"},
        tensor<16xf32> {amp.updates = "h.0.ln_2.bias"},
        tensor<48x16xf32> {amp.updates = "h.0.qkv.weight"},
        tensor<48xf32> {amp.updates = "h.0.qkv.bias"},
        tensor<16x16xf32> {amp.updates = "h.0.proj.weight"},
        tensor<16xf32> {amp.updates = "h.0.proj.bias"},
        tensor<64x16xf32> {amp.updates = "h.0.fc.weight"},
        tensor<64xf32> {amp.updates = "h.0.fc.bias"},
        tensor<16x64xf32> {amp.updates = "h.0.out.weight"},
        tensor<16xf32> {amp.updates = "h.0.out.bias"},
        tensor<16xf32> {amp.updates = "h.1.ln_1.weight"},
        tensor<16xf32> {amp.updates = "h.1.ln_1.bias"},
        tensor<16xf32> {amp.updates = "h.1.ln_2.weight"},
        tensor<16xf32> {amp.updates = "h.1.ln_2.bias"},
        tensor<48x16xf32> {amp.updates = "h.1.qkv.weight"},
        tensor<48xf32> {amp.updates = "h.1.qkv.bias"},
        tensor<16x16xf32> {amp.updates = "h.1.proj.weight"},
        tensor<16xf32> {amp.updates = "h.1.proj.bias"},
        tensor<64x16xf32> {amp.updates = "h.1.fc.weight"},
        tensor<64xf32> {amp.updates = "h.1.fc.bias"},
        tensor<16x64xf32> {amp.updates = "h.1.out.weight"},
        tensor<16xf32> {amp.updates = "h.1.out.bias"},
        tensor<16xf32> {amp.updates = "ln_f.weight"},
        tensor<16xf32> {amp.updates = "ln_f.bias"},
        tensor<f32> {amp.updates = "step"},
        tensor<31x16xf32> {amp.updates = "wte.weight.exp_avg"},
        tensor<31x16xf32> {amp.updates = "wte.weight.exp_avg_sq"},
        tensor<12x16xf32> {amp.updates = "wpe.weight.exp_avg"},
        tensor<12x16xf32> {amp.updates = "wpe.weight.exp_avg_sq"},
        tensor<48x16xf32> {amp.updates = "h.0.qkv.weight.exp_avg"},
        tensor<48x16xf32> {amp.updates = "h.0.qkv.weight.exp_avg_sq"},
        tensor<16x16xf32> {amp.updates = "h.0.proj.weight.exp_avg"},
        tensor<16x16xf32> {amp.updates = "h.0.proj.weight.exp_avg_sq"},
        tensor<64x16xf32> {amp.updates = "h.0.fc.weight.exp_avg"},
        tensor<64x16xf32> {amp.updates = "h.0.fc.weight.exp_avg_sq"},
        tensor<16x64xf32> {amp.updates = "h.0.out.weight.exp_avg"},
        tensor<16x64xf32> {amp.updates = "h.0.out.weight.exp_avg_sq"},
        tensor<48x16xf32> {amp.updates = "h.1.qkv.weight.exp_avg"},
        tensor<48x16xf32> {amp.updates = "h.1.qkv.weight.exp_avg_sq"},
        tensor<16x16xf32> {amp.updates = "h.1.proj.weight.exp_avg"},
        tensor<16x16xf32> {amp.updates = "h.1.proj.weight.exp_avg_sq"},
        tensor<64x16xf32> {amp.updates = "h.1.fc.weight.exp_avg"},
        tensor<64x16xf32> {amp.updates = "h.1.fc.weight.exp_avg_sq"},
        tensor<16x64xf32> {amp.updates = "h.1.out.weight.exp_avg"},
        tensor<16x64xf32> {amp.updates = "h.1.out.weight.exp_avg_sq"},
        tensor<16xf32> {amp.updates = "h.0.ln_1.weight.exp_avg"},
        tensor<16xf32> {amp.updates = "h.0.ln_1.weight.exp_avg_sq"},
        tensor<16xf32> {amp.updates = "h.0.ln_1.bias.exp_avg"},
        tensor<16xf32> {amp.updates = "h.0.ln_1.bias.exp_avg_sq"},
        tensor<16xf32> {amp.updates = "h.0.ln_2.weight.exp_avg"},
        tensor<16xf32> {amp.updates = "h.0.ln_2.weight.exp_avg_sq"},
        tensor<16xf32> {amp.updates = "h.0.ln_2.bias.exp_avg"},
        tensor<16xf32> {amp.updates = "h.0.ln_2.bias.exp_avg_sq"},
        tensor<48xf32> {amp.updates = "h.0.qkv.bias.exp_avg"},
        tensor<48xf32> {amp.updates = "h.0.qkv.bias.exp_avg_sq"},
        tensor<16xf32> {amp.updates = "h.0.proj.bias.exp_avg"},
        tensor<16xf32> {amp.updates = "h.0.proj.bias.exp_avg_sq"},
        tensor<64xf32> {amp.updates = "h.0.fc.bias.exp_avg"},
        tensor<64xf32> {amp.updates = "h.0.fc.bias.exp_avg_sq"},
        tensor<16xf32> {amp.updates = "h.0.out.bias.exp_avg"},
        tensor<16xf32> {amp.updates = "h.0.out.bias.exp_avg_sq"},
        tensor<16xf32> {amp.updates = "h.1.ln_1.weight.exp_avg"},
        tensor<16xf32> {amp.updates = "h.1.ln_1.weight.exp_avg_sq"},
        tensor<16xf32> {amp.updates = "h.1.ln_1.bias.exp_avg"},
        tensor<16xf32> {amp.updates = "h.1.ln_1.bias.exp_avg_sq"},
        tensor<16xf32> {amp.updates = "h.1.ln_2.weight.exp_avg"},
        tensor<16xf32> {amp.updates = "h.1.ln_2.weight.exp_avg_sq"},
        tensor<16xf32> {amp.updates = "h.1.ln_2.bias.exp_avg"},
        tensor<16xf32> {amp.updates = "h.1.ln_2.bias.exp_avg_sq"},
        tensor<48xf32> {amp.updates = "h.1.qkv.bias.exp_avg"},
        tensor<48xf32> {amp.updates = "h.1.qkv.bias.exp_avg_sq"},
        tensor<16xf32> {amp.updates = "h.1.proj.bias.exp_avg"},
        tensor<16xf32> {amp.updates = "h.1.proj.bias.exp_avg_sq"},
        tensor<64xf32> {amp.updates = "h.1.fc.bias.exp_avg"},
        tensor<64xf32> {amp.updates = "h.1.fc.bias.exp_avg_sq"},
        tensor<16xf32> {amp.updates = "h.1.out.bias.exp_avg"},
        tensor<16xf32> {amp.updates = "h.1.out.bias.exp_avg_sq"},
        tensor<16xf32> {amp.updates = "ln_f.weight.exp_avg"},
        tensor<16xf32> {amp.updates = "ln_f.weight.exp_avg_sq"},
        tensor<16xf32> {amp.updates = "ln_f.bias.exp_avg"},
        tensor<16xf32> {amp.updates = "ln_f.bias.exp_avg_sq"},
        tensor<f32> {amp.metric = "loss"}) {
  %0 = train.gather %p0, %x0 {axis = 0 : i64} : (tensor<31x16xf32>, tensor<?x12xi64>) -> tensor<?x12x16xf32> loc("wte")
  %1 = train.constant dense<"0x00000000000000000100000000000000020000000000000003000000000000000400000000000000050000000000000006000000000000000700000000000000080000000000000009000000000000000A000000000000000B00000000000000"> : tensor<12xi64> loc("wpe")
  %2 = train.gather %p1, %1 {axis = 0 : i64} : (tensor<12x16xf32>, tensor<12xi64>) -> tensor<12x16xf32> loc("wpe")
  %3 = train.add %0, %2 : (tensor<?x12x16xf32>, tensor<12x16xf32>) -> tensor<?x12x16xf32> loc("forward")
  %4, %5, %6 = train.layer_norm %3, %p2, %p3 {epsilon = 1.0e-05 : f64} : (tensor<?x12x16xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<?x12x16xf32>, tensor<?x12xf32>, tensor<?x12xf32>) loc("h.0.ln_1")
  %7 = train.linear %4, %p6, %p7 {transpose_weight} : (tensor<?x12x16xf32>, tensor<48x16xf32>, tensor<48xf32>) -> tensor<?x12x48xf32> loc("h.0.qkv")
  %8 = train.slice %7 {offsets = array<i64: 0, 0, 0>, sizes = array<i64: -1, 12, 16>, strides = array<i64: 1, 1, 1>} : (tensor<?x12x48xf32>) -> tensor<?x12x16xf32> loc("h.0")
  %9 = train.slice %7 {offsets = array<i64: 0, 0, 16>, sizes = array<i64: -1, 12, 16>, strides = array<i64: 1, 1, 1>} : (tensor<?x12x48xf32>) -> tensor<?x12x16xf32> loc("h.0")
  %10 = train.slice %7 {offsets = array<i64: 0, 0, 32>, sizes = array<i64: -1, 12, 16>, strides = array<i64: 1, 1, 1>} : (tensor<?x12x48xf32>) -> tensor<?x12x16xf32> loc("h.0")
  %11 = train.reshape %8 : (tensor<?x12x16xf32>) -> tensor<?x12x2x8xf32> loc("h.0")
  %12 = train.transpose %11 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<?x12x2x8xf32>) -> tensor<?x2x12x8xf32> loc("h.0")
  %13 = train.reshape %9 : (tensor<?x12x16xf32>) -> tensor<?x12x2x8xf32> loc("h.0")
  %14 = train.transpose %13 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<?x12x2x8xf32>) -> tensor<?x2x12x8xf32> loc("h.0")
  %15 = train.reshape %10 : (tensor<?x12x16xf32>) -> tensor<?x12x2x8xf32> loc("h.0")
  %16 = train.transpose %15 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<?x12x2x8xf32>) -> tensor<?x2x12x8xf32> loc("h.0")
  %17, %18 = train.scaled_dot_product_attention %12, %14, %16 {causal} : (tensor<?x2x12x8xf32>, tensor<?x2x12x8xf32>, tensor<?x2x12x8xf32>) -> (tensor<?x2x12x8xf32>, tensor<?x2x12xf32>) loc("h.0")
  %19 = train.transpose %17 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<?x2x12x8xf32>) -> tensor<?x12x2x8xf32> loc("h.0")
  %20 = train.reshape %19 : (tensor<?x12x2x8xf32>) -> tensor<?x12x16xf32> loc("h.0")
  %21 = train.linear %20, %p8, %p9 {transpose_weight} : (tensor<?x12x16xf32>, tensor<16x16xf32>, tensor<16xf32>) -> tensor<?x12x16xf32> loc("h.0.proj")
  %22 = train.add %3, %21 : (tensor<?x12x16xf32>, tensor<?x12x16xf32>) -> tensor<?x12x16xf32> loc("h.0")
  %23, %24, %25 = train.layer_norm %22, %p4, %p5 {epsilon = 1.0e-05 : f64} : (tensor<?x12x16xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<?x12x16xf32>, tensor<?x12xf32>, tensor<?x12xf32>) loc("h.0.ln_2")
  %26 = train.linear %23, %p10, %p11 {transpose_weight} : (tensor<?x12x16xf32>, tensor<64x16xf32>, tensor<64xf32>) -> tensor<?x12x64xf32> loc("h.0.fc")
  %27 = train.gelu %26 {approximate = 1 : i32} : tensor<?x12x64xf32> loc("h.0")
  %28 = train.linear %27, %p12, %p13 {transpose_weight} : (tensor<?x12x64xf32>, tensor<16x64xf32>, tensor<16xf32>) -> tensor<?x12x16xf32> loc("h.0.out")
  %29 = train.add %22, %28 : (tensor<?x12x16xf32>, tensor<?x12x16xf32>) -> tensor<?x12x16xf32> loc("h.0")
  %30, %31, %32 = train.layer_norm %29, %p14, %p15 {epsilon = 1.0e-05 : f64} : (tensor<?x12x16xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<?x12x16xf32>, tensor<?x12xf32>, tensor<?x12xf32>) loc("h.1.ln_1")
  %33 = train.linear %30, %p18, %p19 {transpose_weight} : (tensor<?x12x16xf32>, tensor<48x16xf32>, tensor<48xf32>) -> tensor<?x12x48xf32> loc("h.1.qkv")
  %34 = train.slice %33 {offsets = array<i64: 0, 0, 0>, sizes = array<i64: -1, 12, 16>, strides = array<i64: 1, 1, 1>} : (tensor<?x12x48xf32>) -> tensor<?x12x16xf32> loc("h.1")
  %35 = train.slice %33 {offsets = array<i64: 0, 0, 16>, sizes = array<i64: -1, 12, 16>, strides = array<i64: 1, 1, 1>} : (tensor<?x12x48xf32>) -> tensor<?x12x16xf32> loc("h.1")
  %36 = train.slice %33 {offsets = array<i64: 0, 0, 32>, sizes = array<i64: -1, 12, 16>, strides = array<i64: 1, 1, 1>} : (tensor<?x12x48xf32>) -> tensor<?x12x16xf32> loc("h.1")
  %37 = train.reshape %34 : (tensor<?x12x16xf32>) -> tensor<?x12x2x8xf32> loc("h.1")
  %38 = train.transpose %37 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<?x12x2x8xf32>) -> tensor<?x2x12x8xf32> loc("h.1")
  %39 = train.reshape %35 : (tensor<?x12x16xf32>) -> tensor<?x12x2x8xf32> loc("h.1")
  %40 = train.transpose %39 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<?x12x2x8xf32>) -> tensor<?x2x12x8xf32> loc("h.1")
  %41 = train.reshape %36 : (tensor<?x12x16xf32>) -> tensor<?x12x2x8xf32> loc("h.1")
  %42 = train.transpose %41 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<?x12x2x8xf32>) -> tensor<?x2x12x8xf32> loc("h.1")
  %43, %44 = train.scaled_dot_product_attention %38, %40, %42 {causal} : (tensor<?x2x12x8xf32>, tensor<?x2x12x8xf32>, tensor<?x2x12x8xf32>) -> (tensor<?x2x12x8xf32>, tensor<?x2x12xf32>) loc("h.1")
  %45 = train.transpose %43 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<?x2x12x8xf32>) -> tensor<?x12x2x8xf32> loc("h.1")
  %46 = train.reshape %45 : (tensor<?x12x2x8xf32>) -> tensor<?x12x16xf32> loc("h.1")
  %47 = train.linear %46, %p20, %p21 {transpose_weight} : (tensor<?x12x16xf32>, tensor<16x16xf32>, tensor<16xf32>) -> tensor<?x12x16xf32> loc("h.1.proj")
  %48 = train.add %29, %47 : (tensor<?x12x16xf32>, tensor<?x12x16xf32>) -> tensor<?x12x16xf32> loc("h.1")
  %49, %50, %51 = train.layer_norm %48, %p16, %p17 {epsilon = 1.0e-05 : f64} : (tensor<?x12x16xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<?x12x16xf32>, tensor<?x12xf32>, tensor<?x12xf32>) loc("h.1.ln_2")
  %52 = train.linear %49, %p22, %p23 {transpose_weight} : (tensor<?x12x16xf32>, tensor<64x16xf32>, tensor<64xf32>) -> tensor<?x12x64xf32> loc("h.1.fc")
  %53 = train.gelu %52 {approximate = 1 : i32} : tensor<?x12x64xf32> loc("h.1")
  %54 = train.linear %53, %p24, %p25 {transpose_weight} : (tensor<?x12x64xf32>, tensor<16x64xf32>, tensor<16xf32>) -> tensor<?x12x16xf32> loc("h.1.out")
  %55 = train.add %48, %54 : (tensor<?x12x16xf32>, tensor<?x12x16xf32>) -> tensor<?x12x16xf32> loc("h.1")
  %56, %57, %58 = train.layer_norm %55, %p26, %p27 {epsilon = 1.0e-05 : f64} : (tensor<?x12x16xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<?x12x16xf32>, tensor<?x12xf32>, tensor<?x12xf32>) loc("ln_f")
  %59 = train.linear %56, %p0 {transpose_weight} : (tensor<?x12x16xf32>, tensor<31x16xf32>) -> tensor<?x12x31xf32> loc("lm_head")
  %60 = train.reshape %59 : (tensor<?x12x31xf32>) -> tensor<?x31xf32> loc("forward")
  %61 = train.reshape %60 : (tensor<?x31xf32>) -> tensor<?x12x31xf32> loc("forward")
  %62 = train.cross_entropy %61, %x1 : (tensor<?x12x31xf32>, tensor<?x12xi64>) -> tensor<f32> loc("forward")
  %63:28 = train.gradients %62 wrt(%p0, %p1, %p6, %p8, %p10, %p12, %p18, %p20, %p22, %p24, %p2, %p3, %p4, %p5, %p7, %p9, %p11, %p13, %p14, %p15, %p16, %p17, %p19, %p21, %p23, %p25, %p26, %p27) : (tensor<f32>, tensor<31x16xf32>, tensor<12x16xf32>, tensor<48x16xf32>, tensor<16x16xf32>, tensor<64x16xf32>, tensor<16x64xf32>, tensor<48x16xf32>, tensor<16x16xf32>, tensor<64x16xf32>, tensor<16x64xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<48xf32>, tensor<16xf32>, tensor<64xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<48xf32>, tensor<16xf32>, tensor<64xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<31x16xf32>, tensor<12x16xf32>, tensor<48x16xf32>, tensor<16x16xf32>, tensor<64x16xf32>, tensor<16x64xf32>, tensor<48x16xf32>, tensor<16x16xf32>, tensor<64x16xf32>, tensor<16x64xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<48xf32>, tensor<16xf32>, tensor<64xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<48xf32>, tensor<16xf32>, tensor<64xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) loc("loss")
  %64 = train.constant dense<1.0> : tensor<f32> loc("wte.weight")
  %65 = train.add %s0, %64 : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("wte.weight")
  %66, %67, %68 = train.adamw %p0, %63#0, %lr0, %s1, %s2, %65 {beta1 = 0.9 : f64, beta2 = 0.999 : f64, epsilon = 1.0e-08 : f64, weight_decay = 0.05 : f64} : (tensor<31x16xf32>, tensor<31x16xf32>, tensor<f32>, tensor<31x16xf32>, tensor<31x16xf32>, tensor<f32>) -> (tensor<31x16xf32>, tensor<31x16xf32>, tensor<31x16xf32>) loc("wte.weight")
  %69, %70, %71 = train.adamw %p1, %63#1, %lr0, %s3, %s4, %65 {beta1 = 0.9 : f64, beta2 = 0.999 : f64, epsilon = 1.0e-08 : f64, weight_decay = 0.05 : f64} : (tensor<12x16xf32>, tensor<12x16xf32>, tensor<f32>, tensor<12x16xf32>, tensor<12x16xf32>, tensor<f32>) -> (tensor<12x16xf32>, tensor<12x16xf32>, tensor<12x16xf32>) loc("wpe.weight")
  %72, %73, %74 = train.adamw %p6, %63#2, %lr0, %s5, %s6, %65 {beta1 = 0.9 : f64, beta2 = 0.999 : f64, epsilon = 1.0e-08 : f64, weight_decay = 0.05 : f64} : (tensor<48x16xf32>, tensor<48x16xf32>, tensor<f32>, tensor<48x16xf32>, tensor<48x16xf32>, tensor<f32>) -> (tensor<48x16xf32>, tensor<48x16xf32>, tensor<48x16xf32>) loc("h.0.qkv.weight")
  %75, %76, %77 = train.adamw %p8, %63#3, %lr0, %s7, %s8, %65 {beta1 = 0.9 : f64, beta2 = 0.999 : f64, epsilon = 1.0e-08 : f64, weight_decay = 0.05 : f64} : (tensor<16x16xf32>, tensor<16x16xf32>, tensor<f32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<f32>) -> (tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>) loc("h.0.proj.weight")
  %78, %79, %80 = train.adamw %p10, %63#4, %lr0, %s9, %s10, %65 {beta1 = 0.9 : f64, beta2 = 0.999 : f64, epsilon = 1.0e-08 : f64, weight_decay = 0.05 : f64} : (tensor<64x16xf32>, tensor<64x16xf32>, tensor<f32>, tensor<64x16xf32>, tensor<64x16xf32>, tensor<f32>) -> (tensor<64x16xf32>, tensor<64x16xf32>, tensor<64x16xf32>) loc("h.0.fc.weight")
  %81, %82, %83 = train.adamw %p12, %63#5, %lr0, %s11, %s12, %65 {beta1 = 0.9 : f64, beta2 = 0.999 : f64, epsilon = 1.0e-08 : f64, weight_decay = 0.05 : f64} : (tensor<16x64xf32>, tensor<16x64xf32>, tensor<f32>, tensor<16x64xf32>, tensor<16x64xf32>, tensor<f32>) -> (tensor<16x64xf32>, tensor<16x64xf32>, tensor<16x64xf32>) loc("h.0.out.weight")
  %84, %85, %86 = train.adamw %p18, %63#6, %lr0, %s13, %s14, %65 {beta1 = 0.9 : f64, beta2 = 0.999 : f64, epsilon = 1.0e-08 : f64, weight_decay = 0.05 : f64} : (tensor<48x16xf32>, tensor<48x16xf32>, tensor<f32>, tensor<48x16xf32>, tensor<48x16xf32>, tensor<f32>) -> (tensor<48x16xf32>, tensor<48x16xf32>, tensor<48x16xf32>) loc("h.1.qkv.weight")
  %87, %88, %89 = train.adamw %p20, %63#7, %lr0, %s15, %s16, %65 {beta1 = 0.9 : f64, beta2 = 0.999 : f64, epsilon = 1.0e-08 : f64, weight_decay = 0.05 : f64} : (tensor<16x16xf32>, tensor<16x16xf32>, tensor<f32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<f32>) -> (tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>) loc("h.1.proj.weight")
  %90, %91, %92 = train.adamw %p22, %63#8, %lr0, %s17, %s18, %65 {beta1 = 0.9 : f64, beta2 = 0.999 : f64, epsilon = 1.0e-08 : f64, weight_decay = 0.05 : f64} : (tensor<64x16xf32>, tensor<64x16xf32>, tensor<f32>, tensor<64x16xf32>, tensor<64x16xf32>, tensor<f32>) -> (tensor<64x16xf32>, tensor<64x16xf32>, tensor<64x16xf32>) loc("h.1.fc.weight")
  %93, %94, %95 = train.adamw %p24, %63#9, %lr0, %s19, %s20, %65 {beta1 = 0.9 : f64, beta2 = 0.999 : f64, epsilon = 1.0e-08 : f64, weight_decay = 0.05 : f64} : (tensor<16x64xf32>, tensor<16x64xf32>, tensor<f32>, tensor<16x64xf32>, tensor<16x64xf32>, tensor<f32>) -> (tensor<16x64xf32>, tensor<16x64xf32>, tensor<16x64xf32>) loc("h.1.out.weight")
  %96, %97, %98 = train.adamw %p2, %63#10, %lr1, %s21, %s22, %65 {beta1 = 0.9 : f64, beta2 = 0.999 : f64, epsilon = 1.0e-08 : f64} : (tensor<16xf32>, tensor<16xf32>, tensor<f32>, tensor<16xf32>, tensor<16xf32>, tensor<f32>) -> (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) loc("h.0.ln_1.weight")
  %99, %100, %101 = train.adamw %p3, %63#11, %lr1, %s23, %s24, %65 {beta1 = 0.9 : f64, beta2 = 0.999 : f64, epsilon = 1.0e-08 : f64} : (tensor<16xf32>, tensor<16xf32>, tensor<f32>, tensor<16xf32>, tensor<16xf32>, tensor<f32>) -> (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) loc("h.0.ln_1.bias")
  %102, %103, %104 = train.adamw %p4, %63#12, %lr1, %s25, %s26, %65 {beta1 = 0.9 : f64, beta2 = 0.999 : f64, epsilon = 1.0e-08 : f64} : (tensor<16xf32>, tensor<16xf32>, tensor<f32>, tensor<16xf32>, tensor<16xf32>, tensor<f32>) -> (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) loc("h.0.ln_2.weight")
  %105, %106, %107 = train.adamw %p5, %63#13, %lr1, %s27, %s28, %65 {beta1 = 0.9 : f64, beta2 = 0.999 : f64, epsilon = 1.0e-08 : f64} : (tensor<16xf32>, tensor<16xf32>, tensor<f32>, tensor<16xf32>, tensor<16xf32>, tensor<f32>) -> (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) loc("h.0.ln_2.bias")
  %108, %109, %110 = train.adamw %p7, %63#14, %lr1, %s29, %s30, %65 {beta1 = 0.9 : f64, beta2 = 0.999 : f64, epsilon = 1.0e-08 : f64} : (tensor<48xf32>, tensor<48xf32>, tensor<f32>, tensor<48xf32>, tensor<48xf32>, tensor<f32>) -> (tensor<48xf32>, tensor<48xf32>, tensor<48xf32>) loc("h.0.qkv.bias")
  %111, %112, %113 = train.adamw %p9, %63#15, %lr1, %s31, %s32, %65 {beta1 = 0.9 : f64, beta2 = 0.999 : f64, epsilon = 1.0e-08 : f64} : (tensor<16xf32>, tensor<16xf32>, tensor<f32>, tensor<16xf32>, tensor<16xf32>, tensor<f32>) -> (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) loc("h.0.proj.bias")
  %114, %115, %116 = train.adamw %p11, %63#16, %lr1, %s33, %s34, %65 {beta1 = 0.9 : f64, beta2 = 0.999 : f64, epsilon = 1.0e-08 : f64} : (tensor<64xf32>, tensor<64xf32>, tensor<f32>, tensor<64xf32>, tensor<64xf32>, tensor<f32>) -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) loc("h.0.fc.bias")
  %117, %118, %119 = train.adamw %p13, %63#17, %lr1, %s35, %s36, %65 {beta1 = 0.9 : f64, beta2 = 0.999 : f64, epsilon = 1.0e-08 : f64} : (tensor<16xf32>, tensor<16xf32>, tensor<f32>, tensor<16xf32>, tensor<16xf32>, tensor<f32>) -> (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) loc("h.0.out.bias")
  %120, %121, %122 = train.adamw %p14, %63#18, %lr1, %s37, %s38, %65 {beta1 = 0.9 : f64, beta2 = 0.999 : f64, epsilon = 1.0e-08 : f64} : (tensor<16xf32>, tensor<16xf32>, tensor<f32>, tensor<16xf32>, tensor<16xf32>, tensor<f32>) -> (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) loc("h.1.ln_1.weight")
  %123, %124, %125 = train.adamw %p15, %63#19, %lr1, %s39, %s40, %65 {beta1 = 0.9 : f64, beta2 = 0.999 : f64, epsilon = 1.0e-08 : f64} : (tensor<16xf32>, tensor<16xf32>, tensor<f32>, tensor<16xf32>, tensor<16xf32>, tensor<f32>) -> (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) loc("h.1.ln_1.bias")
  %126, %127, %128 = train.adamw %p16, %63#20, %lr1, %s41, %s42, %65 {beta1 = 0.9 : f64, beta2 = 0.999 : f64, epsilon = 1.0e-08 : f64} : (tensor<16xf32>, tensor<16xf32>, tensor<f32>, tensor<16xf32>, tensor<16xf32>, tensor<f32>) -> (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) loc("h.1.ln_2.weight")
  %129, %130, %131 = train.adamw %p17, %63#21, %lr1, %s43, %s44, %65 {beta1 = 0.9 : f64, beta2 = 0.999 : f64, epsilon = 1.0e-08 : f64} : (tensor<16xf32>, tensor<16xf32>, tensor<f32>, tensor<16xf32>, tensor<16xf32>, tensor<f32>) -> (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) loc("h.1.ln_2.bias")
  %132, %133, %134 = train.adamw %p19, %63#22, %lr1, %s45, %s46, %65 {beta1 = 0.9 : f64, beta2 = 0.999 : f64, epsilon = 1.0e-08 : f64} : (tensor<48xf32>, tensor<48xf32>, tensor<f32>, tensor<48xf32>, tensor<48xf32>, tensor<f32>) -> (tensor<48xf32>, tensor<48xf32>, tensor<48xf32>) loc("h.1.qkv.bias")
  %135, %136, %137 = train.adamw %p21, %63#23, %lr1, %s47, %s48, %65 {beta1 = 0.9 : f64, beta2 = 0.999 : f64, epsilon = 1.0e-08 : f64} : (tensor<16xf32>, tensor<16xf32>, tensor<f32>, tensor<16xf32>, tensor<16xf32>, tensor<f32>) -> (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) loc("h.1.proj.bias")
  %138, %139, %140 = train.adamw %p23, %63#24, %lr1, %s49, %s50, %65 {beta1 = 0.9 : f64, beta2 = 0.999 : f64, epsilon = 1.0e-08 : f64} : (tensor<64xf32>, tensor<64xf32>, tensor<f32>, tensor<64xf32>, tensor<64xf32>, tensor<f32>) -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) loc("h.1.fc.bias")
  %141, %142, %143 = train.adamw %p25, %63#25, %lr1, %s51, %s52, %65 {beta1 = 0.9 : f64, beta2 = 0.999 : f64, epsilon = 1.0e-08 : f64} : (tensor<16xf32>, tensor<16xf32>, tensor<f32>, tensor<16xf32>, tensor<16xf32>, tensor<f32>) -> (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) loc("h.1.out.bias")
  %144, %145, %146 = train.adamw %p26, %63#26, %lr1, %s53, %s54, %65 {beta1 = 0.9 : f64, beta2 = 0.999 : f64, epsilon = 1.0e-08 : f64} : (tensor<16xf32>, tensor<16xf32>, tensor<f32>, tensor<16xf32>, tensor<16xf32>, tensor<f32>) -> (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) loc("ln_f.weight")
  %147, %148, %149 = train.adamw %p27, %63#27, %lr1, %s55, %s56, %65 {beta1 = 0.9 : f64, beta2 = 0.999 : f64, epsilon = 1.0e-08 : f64} : (tensor<16xf32>, tensor<16xf32>, tensor<f32>, tensor<16xf32>, tensor<16xf32>, tensor<f32>) -> (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) loc("ln_f.bias")
  return %66, %69, %96, %99, %102, %105, %72, %108, %75, %111, %78, %114, %81, %117, %120, %123, %126, %129, %84, %132, %87, %135, %90, %138, %93, %141, %144, %147, %65, %67, %68, %70, %71, %73, %74, %76, %77, %79, %80, %82, %83, %85, %86, %88, %89, %91, %92, %94, %95, %97, %98, %100, %101, %103, %104, %106, %107, %109, %110, %112, %113, %115, %116, %118, %119, %121, %122, %124, %125, %127, %128, %130, %131, %133, %134, %136, %137, %139, %140, %142, %143, %145, %146, %148, %149, %62 : tensor<31x16xf32>, tensor<12x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<48x16xf32>, tensor<48xf32>, tensor<16x16xf32>, tensor<16xf32>, tensor<64x16xf32>, tensor<64xf32>, tensor<16x64xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<48x16xf32>, tensor<48xf32>, tensor<16x16xf32>, tensor<16xf32>, tensor<64x16xf32>, tensor<64xf32>, tensor<16x64xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<f32>, tensor<31x16xf32>, tensor<31x16xf32>, tensor<12x16xf32>, tensor<12x16xf32>, tensor<48x16xf32>, tensor<48x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<64x16xf32>, tensor<64x16xf32>, tensor<16x64xf32>, tensor<16x64xf32>, tensor<48x16xf32>, tensor<48x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<64x16xf32>, tensor<64x16xf32>, tensor<16x64xf32>, tensor<16x64xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<48xf32>, tensor<48xf32>, tensor<16xf32>, tensor<16xf32>, tensor<64xf32>, tensor<64xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<48xf32>, tensor<48xf32>, tensor<16xf32>, tensor<16xf32>, tensor<64xf32>, tensor<64xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<f32>
}
