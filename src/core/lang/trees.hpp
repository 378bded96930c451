// Expressions while they are read, and the Python objects that they become.
//
// Generated texts say the same thing over and over. Equal parts of expressions have one shape, and so one object, which
// stands where its shape was met first: whoever goes through the trees later does so once for each shape. A whole
// expression is always an object of its own, which stands where it was written.
#pragma once

#include <nanobind/nanobind.h>

#include <unordered_map>
#include <vector>

#include "lang/scan.hpp"

namespace galton {

namespace nb = nanobind;

// A class of Python's with slots, made without running its __init__, which would check and convert nothing. Trees that
// nobody can change have no cycles: Python's collector of cycles, which would look at millions of them, need not know
// them. The same holds for named tuples below.
class SlottedClass {
  public:
    SlottedClass(nb::handle type, std::initializer_list<const char*> slots);
    // Takes over the references to the values, one for each slot.
    PyObject* make(std::initializer_list<PyObject*> values) const;

  private:
    PyTypeObject* type_;
    std::vector<Py_ssize_t> offsets_;
};

// A named tuple; takes over the references to the values.
PyObject* make_tuple_of(PyTypeObject* type, std::initializer_list<PyObject*> values);

enum class Form : uint8_t { Literal, Name, Unary, Binary, Conditional, Call };

struct Tree {
    Form form;
    uint32_t content;      // a literal or a word by its number, an operator by its symbol
    uint32_t start, end;   // where it was written
    uint32_t shape;
    uint32_t depth;
    std::vector<uint32_t> children;
};

class Trees {
  public:
    explicit Trees(nb::handle classes);

    // What was read so far is forgotten, but not its shapes.
    void clear() { trees_.clear(); }
    // Nothing is shared with what was read before.
    void forget();

    uint32_t add(Form form, uint32_t content, std::vector<uint32_t> children, uint32_t start, uint32_t end);
    const Tree& operator[](uint32_t tree) const { return trees_[tree]; }

    uint32_t literal(PyObject* value);  // takes over the reference
    void use_words(const Words& words);
    PyObject* word(uint32_t number) const { return words_[number].ptr(); }

    // New references.
    PyObject* span(uint32_t start, uint32_t end) const;
    PyObject* whole(uint32_t tree);

  private:
    PyObject* part(uint32_t tree);
    PyObject* make(const Tree& tree);
    PyObject* operator_text(uint32_t content);

    SlottedClass span_, literal_, name_, unary_, binary_, conditional_, call_;
    std::vector<Tree> trees_;
    std::vector<nb::object> literals_, words_;
    std::unordered_map<uint32_t, nb::object> operators_;
    struct Key {
        uint64_t head, first, rest;
        bool operator==(const Key&) const = default;
    };
    struct Hash {
        size_t operator()(const Key& key) const {
            uint64_t h = key.head * 0x9e3779b97f4a7c15ull ^ (key.first + 0x7f4a7c15) * 0xbf58476d1ce4e5b9ull;
            h ^= (h >> 29) ^ key.rest * 0x94d049bb133111ebull;
            return h ^ h >> 32;
        }
    };
    std::unordered_map<Key, uint32_t, Hash> shapes_;
    std::vector<nb::object> objects_;  // of each shape, once there is one
};

}  // namespace galton
