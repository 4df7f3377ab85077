// What coz asks of LIEF on Linux, of 64-bit little-endian ELF files: the sections and their contents, the build-id, and whether the file
// has a fixed address. LIEF itself is large and takes many minutes to build, for reading this.
#pragma once

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

namespace LIEF {

class Binary {
 public:
  virtual ~Binary() = default;
};

namespace ELF {

// Bytes of a file that is in memory.
class Bytes {
 public:
  Bytes(const uint8_t *begin, size_t length) : begin_(begin), length_(length) {}
  const uint8_t *data() const { return begin_; }
  size_t size() const { return length_; }
  bool empty() const { return length_ == 0; }
  const uint8_t *begin() const { return begin_; }
  const uint8_t *end() const { return begin_ + length_; }

 private:
  const uint8_t *begin_;
  size_t length_;
};

class Section {
 public:
  Section(std::string name, Bytes content) : name_(std::move(name)), content_(content) {}
  const std::string &name() const { return name_; }
  Bytes content() const { return content_; }
  size_t size() const { return content_.size(); }

 private:
  std::string name_;
  Bytes content_;
};

class Note {
 public:
  enum class TYPE { GNU_BUILD_ID, OTHER };
  Note(TYPE type, Bytes description) : type_(type), description_(description) {}
  TYPE type() const { return type_; }
  Bytes description() const { return description_; }

 private:
  TYPE type_;
  Bytes description_;
};

class Header {
 public:
  enum class FILE_TYPE { EXEC, OTHER };
  explicit Header(FILE_TYPE type) : type_(type) {}
  FILE_TYPE file_type() const { return type_; }

 private:
  FILE_TYPE type_;
};

class Binary : public LIEF::Binary {
 public:
  explicit Binary(std::vector<uint8_t> bytes) : bytes_(std::move(bytes)) { read(); }
  const std::vector<Section> &sections() const { return sections_; }
  const std::vector<Note> &notes() const { return notes_; }
  Header header() const { return header_; }
  const Section *get_section(const std::string &name) const {
    for (const Section &section : sections_)
      if (section.name() == name) return &section;
    return nullptr;
  }

 private:
  bool holds(uint64_t offset, uint64_t length) const {
    return offset <= bytes_.size() && length <= bytes_.size() - offset;
  }

  template <typename T>
  T at(uint64_t offset) const {
    T value;
    std::memset(&value, 0, sizeof value);
    if (holds(offset, sizeof value)) std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return value;
  }

  void read() {
    const Elf64_Ehdr header = at<Elf64_Ehdr>(0);
    header_ = Header(header.e_type == ET_EXEC ? Header::FILE_TYPE::EXEC : Header::FILE_TYPE::OTHER);
    const Elf64_Shdr names = at<Elf64_Shdr>(header.e_shoff + uint64_t(header.e_shstrndx) * sizeof(Elf64_Shdr));
    for (unsigned number = 0; number < header.e_shnum; number++) {
      const Elf64_Shdr section = at<Elf64_Shdr>(header.e_shoff + uint64_t(number) * sizeof(Elf64_Shdr));
      if (section.sh_type == SHT_NULL || section.sh_type == SHT_NOBITS) continue;
      if (!holds(section.sh_offset, section.sh_size)) continue;
      const Bytes content(bytes_.data() + section.sh_offset, section.sh_size);
      sections_.emplace_back(text(names, section.sh_name), content);
      if (section.sh_type == SHT_NOTE) note(content);
    }
  }

  std::string text(const Elf64_Shdr &names, uint64_t offset) const {
    std::string name;
    for (uint64_t from = names.sh_offset + offset; holds(from, 1) && bytes_[from] != 0; from++) name += char(bytes_[from]);
    return name;
  }

  void note(const Bytes &content) {
    Elf64_Nhdr head;
    if (content.size() < sizeof head) return;
    std::memcpy(&head, content.data(), sizeof head);
    const uint64_t from = sizeof head + ((uint64_t(head.n_namesz) + 3) & ~uint64_t(3));
    if (from > content.size() || head.n_descsz > content.size() - from) return;
    const bool is_id = head.n_type == NT_GNU_BUILD_ID;
    notes_.emplace_back(is_id ? Note::TYPE::GNU_BUILD_ID : Note::TYPE::OTHER, Bytes(content.data() + from, head.n_descsz));
  }

  std::vector<uint8_t> bytes_;
  std::vector<Section> sections_;
  std::vector<Note> notes_;
  Header header_{Header::FILE_TYPE::OTHER};
};

}  // namespace ELF

class Parser {
 public:
  // Nothing where there is no such file, or no 64-bit ELF in it.
  static std::unique_ptr<Binary> parse(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    std::vector<uint8_t> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    const bool is_elf = bytes.size() >= sizeof(Elf64_Ehdr) && std::memcmp(bytes.data(), ELFMAG, SELFMAG) == 0;
    if (!is_elf || bytes[EI_CLASS] != ELFCLASS64) return nullptr;
    return std::unique_ptr<Binary>(new ELF::Binary(std::move(bytes)));
  }
};

}  // namespace LIEF
