//! Hooks that keep the program away from our descriptors.

fulcrum_preload::descriptor_hooks!(while crate::process::activity::is_active);
