//! A synthetic program: its methods, and which of them call which.

use fulcrum_stats::Random;
use fulcrum_stats::random::{STEP, mix, unit};

/// Methods that are called from everywhere. Planted sequences end in them, so their names alone do not explain their cost.
pub(crate) const LIBRARY: [&str; 32] = [
    "AccessController.checkPermission",
    "AccessController.doPrivileged",
    "AccessController.getStackAccessControlContext",
    "Class.checkMemberAccess",
    "Class.forName",
    "Credential.read",
    "Hashtable.get",
    "HashMap.put",
    "Iterator.next",
    "Monitor.enter",
    "Object.clone",
    "Object.wait",
    "Permission.implies",
    "Principal.equals",
    "ProtectionDomain.implies",
    "SecurityManager.checkMemberAccess",
    "SecurityManager.checkPermission",
    "SecurityManager.getClassContext",
    "Set.containsAll",
    "Set.hashCode",
    "String.equals",
    "String.hashCode",
    "String.substring",
    "StringBuffer.append",
    "Subject.equals",
    "Subject.hashCode",
    "System.arraycopy",
    "Thread.currentThread",
    "ThreadLocal.get",
    "Throwable.fillInStackTrace",
    "Vector.elementAt",
    "Vector.indexOf",
];

const CLASSES: [&str; 16] = [
    "Account",
    "Buffer",
    "Cache",
    "Command",
    "Connection",
    "Holding",
    "Index",
    "Message",
    "Order",
    "Page",
    "Parser",
    "Queue",
    "Quote",
    "Servlet",
    "Session",
    "Socket",
];
const KINDS: [&str; 8] = [
    "Bean", "Factory", "Handler", "Home", "Impl", "Manager", "Proxy", "Stub",
];
const VERBS: [&str; 16] = [
    "create", "decode", "encode", "execute", "find", "flush", "get", "invoke", "load", "lookup",
    "process", "read", "run", "set", "store", "write",
];

/// Methods are called with this power of a random number: the first ones are the most popular.
const POPULARITY: f64 = 2.5;

/// One in this many methods calls itself.
const RECURSIVE: u64 = 16;

/// A program's methods, by number. The library's come first, the outermost method last of its own.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    names: Vec<String>,
    /// The number of methods that call each other.
    methods: usize,
}

impl Program {
    /// A program that is large enough for a tree with this many nodes.
    pub(crate) fn new(nodes: u32) -> Self {
        let methods = (nodes as usize / 80).clamp(600, 20_000);
        let library = LIBRARY.iter().map(|&name| name.to_owned());
        let own = (LIBRARY.len()..methods).map(|n| {
            let verb = VERBS[hash(n, 1) as usize % VERBS.len()];
            let (class, rest) = (CLASSES[n % CLASSES.len()], n / CLASSES.len());
            format!(
                "{class}{}{}.{verb}",
                KINDS[rest % KINDS.len()],
                rest / KINDS.len()
            )
        });
        let names = library.chain(own).chain(["Thread.run".to_owned()]);
        Program {
            names: names.collect(),
            methods,
        }
    }

    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// The number of methods that call each other.
    pub(crate) fn methods(&self) -> usize {
        self.methods
    }

    /// The outermost method.
    pub(crate) fn outermost(&self) -> u32 {
        self.methods as u32
    }

    /// The number of a library method.
    pub(crate) fn library(name: &str) -> u32 {
        let at = LIBRARY.iter().position(|&it| it == name);
        at.expect("the name is the library's") as u32
    }

    /// Adds a method.
    pub(crate) fn add(&mut self, name: String) -> u32 {
        self.names.push(name);
        self.names.len() as u32 - 1
    }

    /// Chooses this many different callees of a method. The set of possible callees is fixed for each method; which of them occur varies.
    pub(crate) fn callees(
        &self,
        method: u32,
        count: usize,
        random: &mut Random,
        found: &mut Vec<u32>,
    ) {
        found.clear();
        let variety = count + 1 + method as usize % 4;
        let mut n = random.index(variety);
        while found.len() < count {
            let callee = self.callee(method, n);
            if !found.contains(&callee) {
                found.push(callee);
            }
            n = if n + 1 == variety && found.is_empty() {
                0
            } else {
                n + 1
            };
        }
    }

    fn callee(&self, method: u32, n: usize) -> u32 {
        let hash = hash(method as usize, n);
        if n == 0 && hash.is_multiple_of(RECURSIVE) && method != self.outermost() {
            return method;
        }
        let unit = unit(hash);
        (self.methods as f64 * unit.powf(POPULARITY)) as u32
    }

    /// The approximate own cost of one of the method's calls.
    pub(crate) fn weight(&self, method: u32) -> usize {
        20 << (hash(method as usize, usize::MAX) % 7)
    }
}

/// A hash of two numbers.
fn hash(a: usize, b: usize) -> u64 {
    mix(mix(a as u64 ^ STEP).wrapping_add(b as u64))
}
