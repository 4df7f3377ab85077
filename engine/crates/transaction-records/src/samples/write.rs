//! Writes samples.

use std::collections::HashMap;
use std::io::{self, Write};

use super::{Kind, MAGIC, MARK, MAX_NAME, MAX_STACK, MAX_TEXT, Module, Sample, VERSION};

/// Writes samples, each with one call of the underlying `write`. So whatever ends the recorder, the file has whole records.
#[derive(Debug)]
pub struct SampleWriter<W: Write> {
    out: W,
    record: Vec<u8>,
    /// The names that threads had when they were last written.
    names: HashMap<(u32, u32), Vec<u8>>,
}

impl<W: Write> SampleWriter<W> {
    /// Begins a file.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn new(mut out: W) -> io::Result<Self> {
        out.write_all(&[MAGIC.to_le_bytes(), VERSION.to_le_bytes()].concat())?;
        Ok(SampleWriter {
            out,
            record: Vec::new(),
            names: HashMap::new(),
        })
    }

    /// Flushes the underlying writer.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// Writes a sample.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn sample(&mut self, sample: &Sample<'_>) -> io::Result<()> {
        let name = &sample.thread[..sample.thread.len().min(MAX_NAME)];
        let of = (sample.pid, sample.tid);
        let is_new = !name.is_empty() && self.names.get(&of).is_none_or(|it| it != name);
        if is_new {
            self.names.insert(of, name.to_vec());
        }
        let stack = &sample.stack[..sample.stack.len().min(MAX_STACK)];
        let head = [sample.time_ns, sample.weight_ns];
        let words = head.iter().chain(stack);
        self.write(Kind::Sample, of, words, if is_new { name } else { &[] })
    }

    /// Writes the program of a process without a log.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn process(&mut self, pid: u32, program: &[u8]) -> io::Result<()> {
        self.write(Kind::Process, (pid, 0), &[], program)
    }

    /// Writes a piece of code mapped in a process without a log.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn module(&mut self, pid: u32, module: &Module<'_>) -> io::Result<()> {
        let words = [module.start, module.end, module.offset];
        self.write(Kind::Module, (pid, 0), &words, module.file)
    }

    /// Writes the number of lost samples.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn lost(&mut self, count: u64) -> io::Result<()> {
        self.write(Kind::Lost, (0, 0), &[count], &[])
    }

    /// Writes a sentence for readers of the profile.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn note(&mut self, sentence: &str) -> io::Result<()> {
        self.write(Kind::Note, (0, 0), &[], sentence.as_bytes())
    }

    /// Flushes what is buffered, and returns the underlying writer.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }

    fn write<'a>(
        &mut self,
        kind: Kind,
        (pid, tid): (u32, u32),
        words: impl IntoIterator<Item = &'a u64>,
        text: &[u8],
    ) -> io::Result<()> {
        let text = &text[..text.len().min(MAX_TEXT)];
        self.record.clear();
        self.record.extend([0; 8]);
        self.record.extend(pid.to_le_bytes());
        self.record.extend(tid.to_le_bytes());
        for word in words {
            self.record.extend(word.to_le_bytes());
        }
        self.record.extend(text);
        self.record.resize(self.record.len().next_multiple_of(8), 0);
        let first = kind as u64
            | u64::from(MARK) << 8
            | (text.len() as u64) << 16
            | (self.record.len() as u64 / 8) << 32;
        self.record[..8].copy_from_slice(&first.to_le_bytes());
        self.out.write_all(&self.record)
    }
}
