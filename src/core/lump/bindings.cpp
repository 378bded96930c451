// Partitions and quotients as Python sees them.
#include <optional>
#include <stdexcept>

#include <nanobind/stl/optional.h>

#include "bindings.hpp"
#include "graph/interruptible.hpp"
#include "lump/lump.hpp"

namespace galton {

namespace {

using Ints = In<int32_t>;
using MaybeInts = std::optional<Ints>;

void check_length(size_t found, size_t expected) {
    if (found != expected) throw std::invalid_argument("an array of the wrong length");
}

Sight sight_of(const Matrix& matrix, const MaybeInts& marks, const MaybeInts& kinds, size_t n_kinds, bool leaving,
               int hash_bits) {
    if (marks) check_length(marks->shape(0), matrix.view.n_rows);
    if (kinds) check_length(kinds->shape(0), matrix.view.n_entries);
    return {marks ? marks->data() : nullptr, kinds ? kinds->data() : nullptr, n_kinds, leaving, hash_bits};
}

// Nothing where it was given up; otherwise the first states of the blocks. How many rounds and entries it took.
nb::tuple lumped(const Matrix& matrix, size_t dictionary, const MaybeInts& marks, const MaybeInts& kinds, size_t n_kinds,
                 bool leaving, const Out<int32_t>& block, size_t most_blocks, size_t most_entries, int threads, int hash_bits) {
    check_length(block.shape(0), matrix.view.n_states);
    const Sight sight = sight_of(matrix, marks, kinds, n_kinds, leaving, hash_bits);
    Lumping found = interruptible(matrix, [&](const Stop& stop) {
        return lump(matrix.view, dictionary, sight, block.data(), {most_blocks, most_entries}, threads, stop);
    });
    nb::object first = found.finished ? as_array(found.first) : nb::none();
    return nb::make_tuple(first, found.rounds, found.entries);
}

nb::tuple quotient_of(const Matrix& matrix, size_t dictionary, const MaybeInts& marks, const MaybeInts& kinds, size_t n_kinds,
                      bool leaving) {
    const Sight sight = sight_of(matrix, marks, kinds, n_kinds, leaving, 64);
    Quotient found = interruptible(matrix, [&](const Stop& stop) { return quotient(matrix.view, dictionary, sight, stop); });
    nb::object groups = matrix.view.groups ? as_array(found.groups) : nb::none();
    nb::object of_kinds = kinds ? as_array(found.kinds) : nb::none();
    return nb::make_tuple(groups, as_array(found.starts), as_array(found.sources), as_array(found.columns), of_kinds,
                          as_array(found.values));
}

size_t split(const In<uint64_t>& keys, const Out<int32_t>& block) {
    check_length(block.shape(0), keys.shape(0));
    nb::gil_scoped_release released;
    return split_by_keys(keys.shape(0), keys.data(), block.data());
}

}  // namespace

void bind_lump(nb::module_& m) {
    m.def("lump", &lumped, nb::arg("matrix"), nb::arg("dictionary"), nb::arg("marks").none(), nb::arg("kinds").none(),
          nb::arg("n_kinds"), nb::arg("leaving"), nb::arg("block").noconvert(), nb::arg("most_blocks"), nb::arg("most_entries"),
          nb::arg("threads"), nb::arg("hash_bits"));
    m.def("lump_quotient", &quotient_of, nb::arg("matrix"), nb::arg("dictionary"), nb::arg("marks").none(),
          nb::arg("kinds").none(), nb::arg("n_kinds"), nb::arg("leaving"));
    m.def("split_by_keys", &split, nb::arg("keys"), nb::arg("block").noconvert());
}

}  // namespace galton
