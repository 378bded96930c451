#include "lang/trees.hpp"

#include <structmember.h>

#include <stdexcept>

namespace galton {

SlottedClass::SlottedClass(nb::handle type, std::initializer_list<const char*> slots)
    : type_(reinterpret_cast<PyTypeObject*>(type.ptr())) {
    for (const char* slot : slots) {
        nb::object found = nb::getattr(type, slot);
        if (Py_TYPE(found.ptr()) != &PyMemberDescr_Type) throw std::logic_error("a class of the language has lost its slots");
        offsets_.push_back(reinterpret_cast<PyMemberDescrObject*>(found.ptr())->d_member->offset);
    }
}

PyObject* SlottedClass::make(std::initializer_list<PyObject*> values) const {
    PyObject* made = type_->tp_alloc(type_, 0);
    if (!made) throw nb::python_error();
    size_t slot = 0;
    for (PyObject* value : values) *reinterpret_cast<PyObject**>(reinterpret_cast<char*>(made) + offsets_[slot++]) = value;
    PyObject_GC_UnTrack(made);
    return made;
}

PyObject* make_tuple_of(PyTypeObject* type, std::initializer_list<PyObject*> values) {
    PyObject* made = type->tp_alloc(type, static_cast<Py_ssize_t>(values.size()));
    if (!made) throw nb::python_error();
    Py_ssize_t place = 0;
    for (PyObject* value : values) PyTuple_SET_ITEM(made, place++, value);
    PyObject_GC_UnTrack(made);
    return made;
}

Trees::Trees(nb::handle classes)
    : span_(classes["Span"], {"start", "end"}), literal_(classes["Literal"], {"value", "span"}),
      name_(classes["Name"], {"name", "span"}), unary_(classes["Unary"], {"operator", "operand", "span"}),
      binary_(classes["Binary"], {"operator", "left", "right", "span"}),
      conditional_(classes["Conditional"], {"condition", "then", "otherwise", "span"}),
      call_(classes["Call"], {"function", "arguments", "span"}) {}

void Trees::forget() {
    clear();
    shapes_.clear();
    objects_.clear();
}

uint32_t Trees::add(Form form, uint32_t content, std::vector<uint32_t> children, uint32_t start, uint32_t end) {
    Tree tree{form, content, start, end, 0, 1, std::move(children)};
    Key key{static_cast<uint64_t>(form) << 32 | content, 0, tree.children.size()};
    for (size_t i = 0; i < tree.children.size(); ++i) {
        const Tree& child = trees_[tree.children[i]];
        tree.depth = std::max(tree.depth, child.depth + 1);
        // Of several operands, the shape of the first ones is a shape of its own.
        if (i == 0) {
            key.first = child.shape + 1;
        } else {
            Key both{~uint64_t{0}, key.first, child.shape};
            auto [found, fresh] = shapes_.emplace(both, static_cast<uint32_t>(objects_.size()));
            if (fresh) objects_.emplace_back();
            key.first = found->second + 1;
        }
    }
    auto [found, fresh] = shapes_.emplace(key, static_cast<uint32_t>(objects_.size()));
    if (fresh) objects_.emplace_back();
    tree.shape = found->second;
    trees_.push_back(std::move(tree));
    return static_cast<uint32_t>(trees_.size() - 1);
}

uint32_t Trees::literal(PyObject* value) {
    literals_.push_back(nb::steal(value));
    return static_cast<uint32_t>(literals_.size() - 1);
}

void Trees::use_words(const Words& words) {
    words_.clear();
    for (std::string_view text : words.texts) {
        PyObject* made = PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
        if (!made) throw nb::python_error();
        PyUnicode_InternInPlace(&made);
        words_.push_back(nb::steal(made));
    }
}

PyObject* Trees::span(uint32_t start, uint32_t end) const {
    return span_.make({PyLong_FromUnsignedLong(start), PyLong_FromUnsignedLong(end)});
}

PyObject* Trees::operator_text(uint32_t content) {
    nb::object& text = operators_[content];
    if (!text.is_valid()) {
        char characters[5] = {};
        int length = 0;
        for (int shift = 24; shift >= 0; shift -= 8)
            if (const char c = static_cast<char>(content >> shift & 0xff)) characters[length++] = c;
        text = nb::steal(PyUnicode_InternFromString(characters));
    }
    return nb::object(text).release().ptr();
}

PyObject* Trees::part(uint32_t index) {
    const uint32_t shape = trees_[index].shape;
    if (!objects_[shape].is_valid()) objects_[shape] = nb::steal(make(trees_[index]));
    return nb::object(objects_[shape]).release().ptr();
}

PyObject* Trees::whole(uint32_t index) { return make(trees_[index]); }

PyObject* Trees::make(const Tree& tree) {
    auto child = [&](size_t i) { return part(tree.children[i]); };
    switch (tree.form) {
        case Form::Literal:
            return literal_.make({nb::object(literals_[tree.content]).release().ptr(), span(tree.start, tree.end)});
        case Form::Name: return name_.make({nb::object(words_[tree.content]).release().ptr(), span(tree.start, tree.end)});
        case Form::Unary: {
            PyObject* operand = child(0);
            return unary_.make({operator_text(tree.content), operand, span(tree.start, tree.end)});
        }
        case Form::Binary: {
            PyObject* left = child(0);
            PyObject* right = child(1);
            return binary_.make({operator_text(tree.content), left, right, span(tree.start, tree.end)});
        }
        case Form::Conditional: {
            PyObject* condition = child(0);
            PyObject* then = child(1);
            PyObject* otherwise = child(2);
            return conditional_.make({condition, then, otherwise, span(tree.start, tree.end)});
        }
        case Form::Call: {
            PyObject* arguments = PyTuple_New(static_cast<Py_ssize_t>(tree.children.size()));
            if (!arguments) throw nb::python_error();
            for (size_t i = 0; i < tree.children.size(); ++i) PyTuple_SET_ITEM(arguments, static_cast<Py_ssize_t>(i), child(i));
            return call_.make({nb::object(words_[tree.content]).release().ptr(), arguments, span(tree.start, tree.end)});
        }
    }
    throw std::logic_error("no such form");
}

}  // namespace galton
