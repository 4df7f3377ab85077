//! The integration tests of `fulcrum-names`: one binary, so that they are linked once.

mod table;
