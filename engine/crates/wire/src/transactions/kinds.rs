//! The kinds of records, and of what they are about; each is a number in the file.

/// Defines an enum and the numbers that stand for its values in the file, for those who write and those who read.
macro_rules! numbered {
    ($(#[$comment:meta])* pub enum $name:ident { $($(#[$each:meta])* $variant:ident = $number:literal,)* }) => {
        $(#[$comment])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum $name {
            $($(#[$each])* $variant = $number,)*
        }

        impl $name {
            /// What a number in the file stands for; `None` when this version does not know it.
            pub const fn of(number: u8) -> Option<Self> {
                match number {
                    $($number => Some($name::$variant),)*
                    _ => None,
                }
            }
        }
    };
}

numbered! {
    /// The kinds of records.
    pub enum RecordKind {
        /// See [`super::Record::Program`].
        Program = 1,
        /// See [`super::Record::Module`].
        Module = 2,
        /// See [`super::Record::Path`].
        Path = 3,
        /// See [`super::Record::Spawn`].
        Spawn = 4,
        /// See [`super::Record::Begin`].
        Begin = 5,
        /// See [`super::Record::End`].
        End = 6,
        /// See [`super::Record::Fork`].
        Fork = 7,
        /// See [`super::Record::Open`].
        Open = 8,
        /// See [`super::Record::Close`].
        Close = 9,
        /// See [`super::Record::Send`].
        Send = 10,
        /// See [`super::Record::Receive`].
        Receive = 11,
        /// See [`super::Record::Idle`].
        Idle = 12,
        /// See [`super::Record::Event`].
        Event = 13,
        /// See [`super::Record::Wait`].
        Wait = 14,
        /// See [`super::Record::Release`].
        Release = 15,
        /// See [`super::Record::Produce`].
        Produce = 16,
        /// See [`super::Record::Consume`].
        Consume = 17,
        /// See [`super::Record::Note`].
        Note = 18,
        /// See [`super::Record::Handler`].
        Handler = 19,
        /// See [`super::Record::Demote`].
        Demote = 20,
        /// See [`super::Record::Returned`].
        Returned = 21,
        /// See [`super::Record::Function`].
        Function = 22,
        /// See [`super::Record::Span`].
        Span = 23,
        /// See [`super::Record::Context`].
        Context = 24,
        /// See [`super::Record::Register`].
        Register = 25,
        /// See [`super::Record::JavaWait`].
        JavaWait = 26,
        /// See [`super::Record::JavaRelease`].
        JavaRelease = 27,
    }
}

numbered! {
    /// Why a library calls a handler.
    pub enum Calling {
        /// What it was registered for happens for the first time, or what was asked for is done.
        First = 0,
        /// What it was registered for happens again: a timer repeats, a descriptor stays watched.
        Again = 1,
        /// The thread goes on with what it does: the library calls it within a handler of its own.
        Onward = 2,
        /// A task that was handed to another thread, as to an executor: when it has returned, the thread goes on with what it did
        /// before.
        Task = 3,
        /// A task that was left in a queue. If it is not known who left it, the thread stays with what it does.
        Taken = 4,
    }
}

numbered! {
    /// What a descriptor is registered for.
    pub enum Interest {
        /// Nothing any more.
        Nothing = 0,
        /// Reading, or a condition that is neither reading nor writing.
        Read = 1,
        /// Writing, and possibly reading as well.
        Write = 2,
    }
}

numbered! {
    /// What a stream is.
    pub enum StreamKind {
        /// A TCP connection. Its two ends share a pair of addresses.
        Tcp = 1,
        /// A connected unix socket that keeps no boundaries, or one that does. Each end has an inode and knows the other's.
        Unix = 2,
        /// A pipe or a named pipe. Both ends have one inode.
        Pipe = 3,
        /// A socket for datagrams. Nothing is matched. There are no records of files, terminals, event counters and the like.
        Other = 4,
    }
}

numbered! {
    /// How a process got a stream.
    pub enum Via {
        /// It was there when the program began, or was received from another process.
        Found = 0,
        /// By `accept`: requests arrive on it.
        Accepted = 1,
        /// By `connect`.
        Connected = 2,
        /// By `pipe` or `socketpair`.
        Made = 3,
        /// From the parent, by `fork`.
        Inherited = 4,
    }
}

numbered! {
    /// What is waited for.
    pub enum LockKind {
        /// A mutex.
        Mutex = 1,
        /// A lock that several readers or one writer hold.
        ReadWrite = 2,
        /// A condition variable.
        Condition = 3,
        /// A futex of the program's own, or of its language's library.
        Futex = 4,
        /// A semaphore.
        Semaphore = 5,
    }
}
