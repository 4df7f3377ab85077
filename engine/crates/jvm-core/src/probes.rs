//! The probes, which methods get them, and why some methods do not.

use std::fmt;

use crate::bytes::Malformed;
use crate::code::CannotMove;
use crate::pool::PoolFull;

/// The methods that probes call: static, with one `int`, the method's number.
///
/// With a gate, those for exits have a second `int`: the gate's answer.
#[derive(Clone, Copy, Debug)]
pub struct Probes<'a> {
    /// Their class, with slashes.
    pub class: &'a str,
    /// Called on entry.
    pub enter: &'a str,
    /// Called before each return.
    pub exit: &'a str,
    /// Called when an exception leaves the method.
    pub thrown: &'a str,
    /// Called on entry of methods with gates instead: returns an `int` that is passed to the exit.
    pub gate: Option<&'a str>,
    /// The probes of methods whose objects are passed on.
    pub objects: Option<ObjectProbes<'a>>,
    /// The probes of methods whose values are passed on.
    pub values: Option<ValueProbes<'a>>,
}

/// The methods that get a call's values, one after another, and then that it was entered or returns.
///
/// Those for values are static, with the value and an `int` that describes it ([`crate::tag`]).
#[derive(Clone, Copy, Debug)]
pub struct ValueProbes<'a> {
    /// Their class, with slashes.
    pub class: &'a str,
    /// `int` and the types that the virtual machine treats as one: `boolean`, `byte`, `char`, `short`.
    pub int: &'a str,
    /// `long`.
    pub long: &'a str,
    /// `float`.
    pub float: &'a str,
    /// `double`.
    pub double: &'a str,
    /// An object, or `null`.
    pub object: &'a str,
    /// Called on entry with how many arguments there are, passed on or not, and the method's number.
    pub given: &'a str,
    /// Called before the method returns a value, with the method's number.
    pub gives: &'a str,
}

/// The methods that get a call's objects: static, with the method's number as their last parameter.
#[derive(Clone, Copy, Debug)]
pub struct ObjectProbes<'a> {
    /// Their class, with slashes.
    pub class: &'a str,
    /// Called on entry, with two objects: the one that the method is called on, and its first object argument.
    pub entered: &'a str,
    /// Called before an object is returned, with it.
    pub returns: &'a str,
    /// Called before a `boolean` is returned, with it as an `int`.
    pub says: &'a str,
}

/// A method that is to get probes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selected {
    /// Its place among the class's methods.
    pub method: usize,
    /// The number that its probes pass on.
    pub number: u32,
    /// Whether it asks the gate, when the probes have one.
    pub gated: bool,
    /// Whether its objects are passed on, if there are probes for that and it is no constructor. It has no gate then.
    pub objects: bool,
    /// How many of its arguments are passed on, and its result with them, if there are probes for that and it is no
    /// constructor; `None` for neither. It has no gate then. Where objects are passed on, values are not.
    pub values: Option<u8>,
}

/// Why a method has no probes. `Display` goes on from "NAME is not observed: ".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It is native or abstract.
    NoCode,
    /// With probes it would be longer than a method may be.
    TooLong,
    /// With probes the virtual machine would not compile it any more.
    TooLongToCompile,
    /// A conditional jump would reach too far.
    FarBranch,
    /// A constructor in which the call of `super(…)` cannot be identified.
    Constructor,
    /// The class has no number left for another constant.
    ConstantsFull,
    /// It has no variable left for its gate's answer.
    TooManyVariables,
    /// Its code breaks the format of class files.
    Malformed(Malformed),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Refusal::NoCode => "it is native or abstract",
            Refusal::TooLong => "with probes it would be longer than 65,535 bytes",
            Refusal::TooLongToCompile => {
                "with probes it would be longer than 8,000 bytes, and the virtual machine would not compile it"
            }
            Refusal::FarBranch => "with probes a jump in it would reach too far",
            Refusal::Constructor => "it cannot be told where it calls super(…)",
            Refusal::ConstantsFull => "its class has too many constants",
            Refusal::TooManyVariables => "it has 65,535 variables already",
            Refusal::Malformed(error) => return write!(f, "its code is malformed, {error}"),
        })
    }
}

impl From<Malformed> for Refusal {
    fn from(error: Malformed) -> Self {
        Refusal::Malformed(error)
    }
}

impl From<PoolFull> for Refusal {
    fn from(_: PoolFull) -> Self {
        Refusal::ConstantsFull
    }
}

impl From<CannotMove> for Refusal {
    fn from(error: CannotMove) -> Self {
        match error {
            CannotMove::Malformed(error) => Refusal::Malformed(error),
            CannotMove::FarBranch => Refusal::FarBranch,
        }
    }
}
