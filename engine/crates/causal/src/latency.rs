//! Latency by Little's law (COZ §3.3): `W = L / λ`.
//!
//! `L` is the duration-weighted mean of the requests in progress (coz's `difference`), `λ` the arrivals over the duration.
//! Over a group of experiments the duration cancels: `W = Σ(difference · duration) / Σ arrivals`. So a latency point is
//! combined like a throughput point, with another numerator and denominator. A shorter latency is a *positive* program
//! speedup, as for throughput; coz's viewer shows it with the sign turned.

/// The time that an experiment's requests spent in progress, in nanoseconds: the numerator of `W`.
pub fn in_progress_time(difference: f64, duration_ns: f64) -> f64 {
    difference * duration_ns
}
