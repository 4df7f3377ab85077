//! Types for rows of tables, so that the row of one table is not mistaken for that of another one.

/// Defines the type of a table's rows. Vectors and slices can be indexed by it.
macro_rules! row {
    ($(#[$attribute:meta])* $name:ident) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub(crate) struct $name(pub(crate) usize);

        impl<T> std::ops::Index<$name> for [T] {
            type Output = T;

            fn index(&self, row: $name) -> &T {
                &self[row.0]
            }
        }

        impl<T> std::ops::IndexMut<$name> for [T] {
            fn index_mut(&mut self, row: $name) -> &mut T {
                &mut self[row.0]
            }
        }

        impl<T> std::ops::Index<$name> for Vec<T> {
            type Output = T;

            fn index(&self, row: $name) -> &T {
                &self[row.0]
            }
        }

        impl<T> std::ops::IndexMut<$name> for Vec<T> {
            fn index_mut(&mut self, row: $name) -> &mut T {
                &mut self[row.0]
            }
        }
    };
}

pub(crate) use row;
