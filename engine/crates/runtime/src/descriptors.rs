//! What the program may do with our descriptors: nothing.

fulcrum_preload::descriptor_hooks!(while crate::life::is_active);
