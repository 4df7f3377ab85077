//! What the program may do with our descriptors: nothing.

fulcrum_preload::descriptor_hooks!(while crate::activity::is_active);
