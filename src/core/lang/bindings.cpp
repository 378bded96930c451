// Reading long texts, as Python sees it.
#include "lang/runs.hpp"

#include "bindings.hpp"

namespace galton {

namespace {

// One byte for each character, so that places are those of Python's text.
std::string narrow(nb::str text) {
    const Py_ssize_t length = PyUnicode_GET_LENGTH(text.ptr());
    const int kind = PyUnicode_KIND(text.ptr());
    const void* data = PyUnicode_DATA(text.ptr());
    std::string bytes(static_cast<size_t>(length), '\0');
    for (Py_ssize_t i = 0; i < length; ++i) {
        const Py_UCS4 c = PyUnicode_READ(kind, data, i);
        bytes[static_cast<size_t>(i)] = c == 0xfeff ? ' ' : c < 0x80 ? static_cast<char>(c) : '\x80';
    }
    return bytes;
}

nb::tuple read_runs(nb::str text, nb::object keywords, nb::object decimal, nb::dict classes) {
    if (static_cast<uint64_t>(PyUnicode_GET_LENGTH(text.ptr())) > INT32_MAX) throw std::length_error("a text of over 2 GB");
    const std::string bytes = narrow(text);
    return RunReader(bytes, text, keywords, decimal, classes).read();
}

}  // namespace

void bind_lang(nb::module_& m) {
    m.def("read_runs", &read_runs, nb::arg("text"), nb::arg("keywords"), nb::arg("decimal"), nb::arg("classes"));
}

}  // namespace galton
