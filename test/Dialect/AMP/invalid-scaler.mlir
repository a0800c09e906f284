// RUN: amp-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{unknown field 'growth', expected one of growth_factor, backoff_factor, growth_interval, min_scale, max_scale, hysteresis, hysteresis_refill, after_backoff, growth_guard, interval_rule}}
module attributes {test.scaler = #amp.scaler<growth = 2>} {}

// -----

// expected-error@+1 {{unknown field 'hysteresis', expected one of target, growth_factor, backoff_factor, min_scale, max_scale}}
module attributes {test.scaler = #amp.layer_scaler<hysteresis = 2>} {}

// -----

// expected-error@+1 {{field 'min_scale' is given twice}}
module attributes {test.scaler = #amp.scaler<min_scale = 1, hysteresis = 2, min_scale = 1>} {}

// -----

// expected-error@+1 {{expected '='}}
module attributes {test.scaler = #amp.scaler<min_scale>} {}

// -----

// expected-error@+1 {{expected floating point literal}}
module attributes {test.scaler = #amp.scaler<min_scale = "1">} {}

// -----

// expected-error@+1 {{expected 'growth_factor' to be a number greater than 1, got 1}}
module attributes {test.scaler = #amp.scaler<growth_factor = 1>} {}

// -----

// expected-error@+1 {{expected 'growth_factor' to be a number greater than 1, got 1.000}}
module attributes {test.scaler = #amp.scaler<growth_factor = 1.000000001>} {}

// -----

// expected-error@+1 {{expected 'growth_factor' to be a number greater than 1, got inf}}
module attributes {test.scaler = #amp.scaler<growth_factor = inf>} {}

// -----

// expected-error@+1 {{expected 'growth_factor' to be a number greater than 1, got nan}}
module attributes {test.scaler = #amp.scaler<growth_factor = nan>} {}

// -----

// expected-error@+1 {{expected 'backoff_factor' to be a number between 0 and 1, got 1}}
module attributes {test.scaler = #amp.scaler<backoff_factor = 1.0>} {}

// -----

// expected-error@+1 {{expected 'backoff_factor' to be a number between 0 and 1, got 0}}
module attributes {test.scaler = #amp.scaler<backoff_factor = 0>} {}

// -----

// expected-error@+1 {{expected 'growth_interval' to be a positive integer, got 0}}
module attributes {test.scaler = #amp.scaler<growth_interval = 0>} {}

// -----

// expected-error@+1 {{expected 'growth_interval' to be a positive integer, got -1}}
module attributes {test.scaler = #amp.scaler<growth_interval = -1>} {}

// -----

// expected-error@+1 {{expected 'growth_interval' to be a positive integer, got 2147483648}}
module attributes {test.scaler = #amp.scaler<growth_interval = 2147483648>} {}

// -----

// expected-error@+1 {{expected 'growth_interval' to be a positive integer, got 2.5}}
module attributes {test.scaler = #amp.scaler<growth_interval = 2.5>} {}

// -----

// expected-error@+1 {{expected 'hysteresis' to be a positive integer, got 0}}
module attributes {test.scaler = #amp.scaler<hysteresis = 0>} {}

// -----

// expected-error@+1 {{expected 'min_scale' to be a number of at least 0, got -1}}
module attributes {test.scaler = #amp.scaler<min_scale = -1>} {}

// -----

// expected-error@+1 {{expected 'min_scale' to be a number of at least 0, got inf}}
module attributes {test.scaler = #amp.scaler<min_scale = inf>} {}

// -----

// expected-error@+1 {{expected 'max_scale' to be a number of at least 0, got nan}}
module attributes {test.scaler = #amp.scaler<max_scale = nan>} {}

// -----

// expected-error@+1 {{expected 'min_scale' to be at most 'max_scale', got 4 and 2}}
module attributes {test.scaler = #amp.scaler<min_scale = 4, max_scale = 2>} {}

// -----

// expected-error@+1 {{expected 'hysteresis_refill' to be clean or growth, got never}}
module attributes {test.scaler = #amp.scaler<hysteresis_refill = never>} {}

// -----

// expected-error@+1 {{expected 'after_backoff' to be count, hold or refill, got stop}}
module attributes {test.scaler = #amp.scaler<after_backoff = stop>} {}

// -----

// expected-error@+1 {{expected 'growth_guard' to be on or off, got 1}}
module attributes {test.scaler = #amp.scaler<growth_guard = 1>} {}

// -----

// expected-error@+1 {{expected 'interval_rule' to be at_least or equal, got less}}
module attributes {test.scaler = #amp.scaler<interval_rule = less>} {}

// -----

// expected-error@+1 {{expected 'target' to be a positive number, got 0}}
module attributes {test.scaler = #amp.layer_scaler<target = 0>} {}

// -----

// expected-error@+1 {{expected 'target' to be a positive number, got inf}}
module attributes {test.scaler = #amp.layer_scaler<target = inf>} {}

// -----

// expected-error@+1 {{expected 'growth_factor' to be a power of two from 2 to 2^126, got 3}}
module attributes {test.scaler = #amp.layer_scaler<growth_factor = 3>} {}

// -----

// expected-error@+1 {{expected 'growth_factor' to be a power of two from 2 to 2^126, got 1}}
module attributes {test.scaler = #amp.layer_scaler<growth_factor = 1>} {}

// -----

// expected-error@+1 {{expected 'backoff_factor' to be a power of two from 2^-126 to 0.5, got 1}}
module attributes {test.scaler = #amp.layer_scaler<backoff_factor = 1>} {}

// -----

// expected-error@+1 {{expected 'backoff_factor' to be a power of two from 2^-126 to 0.5, got 0.29}}
module attributes {test.scaler = #amp.layer_scaler<backoff_factor = 0.3>} {}

// -----

// expected-error@+1 {{expected 'min_scale' to be a power of two from 2^-126 to 2^126, got 0}}
module attributes {test.scaler = #amp.layer_scaler<min_scale = 0>} {}

// -----

// expected-error@+1 {{expected 'max_scale' to be a power of two from 2^-126 to 2^126, got 3}}
module attributes {test.scaler = #amp.layer_scaler<max_scale = 3>} {}

// -----

// expected-error@+1 {{expected 'min_scale' to be at most 'max_scale', got 4 and 2}}
module attributes {test.scaler = #amp.layer_scaler<min_scale = 4, max_scale = 2>} {}

