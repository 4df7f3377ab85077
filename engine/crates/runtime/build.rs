//! Sets `frame_pointers` if functions are compiled with them, which `engine/.cargo/config.toml` asks for and the environment may
//! replace.

fn main() {
    println!("cargo:rustc-check-cfg=cfg(frame_pointers)");
    println!("cargo:rerun-if-env-changed=CARGO_ENCODED_RUSTFLAGS");
    let flags = std::env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    if flags.contains("force-frame-pointers=yes") {
        println!("cargo:rustc-cfg=frame_pointers");
    }
}
