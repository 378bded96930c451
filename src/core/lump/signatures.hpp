// What a state does, as far as a partition sees it: its signature.
//
// The signature of a row is the sum of its weights into each block, and what it is marked with; that of a state is the set
// of those of its rows. Hashes of them are quick and may collide; `exact` is the signature itself.
#pragma once

#include <algorithm>
#include <vector>

#include "lump/residues.hpp"
#include "matrix/matrix.hpp"

namespace galton {

// What is seen besides the numbers of the matrix.
struct Sight {
    const int32_t* marks = nullptr;  // of each row: rows with different marks differ (null: none has one)
    const int32_t* kinds = nullptr;  // of each entry: weights of one kind are added up (null: all are of one)
    uint64_t n_kinds = 1;
    bool leaving = false;  // weights into a state's own block do not count
    int hash_bits = 64;    // fewer: for tests, in which hashes have to collide
};

template <class Values>
struct EntryResidues {  // computed when needed
    const Residues& residues;
    Values values;
    EntryResidues(const Residues& of, const Values& v, size_t) : residues(of), values(v) {}
    uint64_t operator[](size_t entry) const { return residues(values[entry]); }
};

template <class Code>
struct EntryResidues<CodedValues<Code>> {  // of a dictionary, computed once
    const Code* codes;
    std::vector<uint64_t> table;
    EntryResidues(const Residues& of, const CodedValues<Code>& v, size_t dictionary) : codes(v.codes) {
        for (size_t k = 0; k < dictionary; ++k) table.push_back(of(v.dictionary[k]));
    }
    uint64_t operator[](size_t entry) const { return table[codes[entry]]; }
};

// Room for the signature of a state, used again and again.
struct Scratch {
    std::vector<uint64_t> hashes;
    std::vector<std::pair<uint64_t, size_t>> entries;
    std::vector<std::vector<uint64_t>> rows;
};

template <class Rows>
class Signatures {
  public:
    Signatures(const Rows& rows, const Sight& sight, const std::vector<Residues>& residues, size_t dictionary)
        : rows_(rows), sight_(sight), residues_(residues), weights_(residues[0], rows.values, dictionary) {}

    size_t entries(size_t state) const {
        return rows_.first_entry(rows_.first_row(state + 1)) - rows_.first_entry(rows_.first_row(state));
    }

    uint64_t hash(size_t state, const int32_t* block, Scratch& scratch) const {
        auto& hashes = scratch.hashes;
        hashes.clear();
        for (size_t row = rows_.first_row(state); row < rows_.first_row(state + 1); ++row) {
            const uint64_t mark = sight_.marks ? static_cast<uint64_t>(sight_.marks[row]) : 0;
            hashes.push_back(stirred(row_hash(row, block, block[state]) + stirred(mark + 1)));
        }
        if (hashes.size() > 1) {
            std::sort(hashes.begin(), hashes.end());
            hashes.erase(std::unique(hashes.begin(), hashes.end()), hashes.end());
        }
        uint64_t sum = 0;
        for (uint64_t hash : hashes) sum += hash;
        return sight_.hash_bits < 64 ? sum & ((uint64_t{1} << sight_.hash_bits) - 1) : sum;
    }

    // Rows in ascending order, each once.
    void exact(size_t state, const int32_t* block, Scratch& scratch, std::vector<uint64_t>& out) const {
        const size_t first = rows_.first_row(state), last = rows_.first_row(state + 1);
        out.clear();
        if (!rows_.groups) return exact_row(first, block, block[state], scratch, out);
        auto& found = scratch.rows;
        found.resize(std::max(found.size(), last - first));
        for (size_t row = first; row < last; ++row) {
            found[row - first].clear();
            exact_row(row, block, block[state], scratch, found[row - first]);
        }
        const auto begin = found.begin(), end = begin + static_cast<ptrdiff_t>(last - first);
        std::sort(begin, end);
        for (auto row = begin, stop = std::unique(begin, end); row != stop; ++row) {
            out.push_back(row->size());
            out.insert(out.end(), row->begin(), row->end());
        }
    }

    // The row's mark; then each block it leads to, with the residues of the sum of its weights.
    void exact_row(size_t row, const int32_t* block, int32_t own, Scratch& scratch, std::vector<uint64_t>& out) const {
        auto& entries = scratch.entries;
        entries.clear();
        for (size_t e = rows_.first_entry(row); e < rows_.first_entry(row + 1); ++e) {
            const int32_t to = block[rows_.columns[e]];
            if (!sight_.leaving || to != own) entries.emplace_back(target(e, to), e);
        }
        std::sort(entries.begin(), entries.end());
        if (sight_.marks) out.push_back(static_cast<uint64_t>(sight_.marks[row]));
        for (size_t i = 0; i < entries.size();) {
            size_t end = i;
            while (end < entries.size() && entries[end].first == entries[i].first) ++end;
            const size_t place = out.size();
            out.push_back(entries[i].first);
            bool nothing = true;
            for (const Residues& residues : residues_) {
                uint64_t sum = 0;
                for (size_t k = i; k < end; ++k) {
                    sum = residues.field().sum(sum, residues(rows_.values[entries[k].second]));
                }
                out.push_back(sum);
                nothing &= sum == 0;
            }
            if (nothing) out.resize(place);
            i = end;
        }
    }

  private:
    uint64_t target(size_t entry, int32_t block) const {
        const uint64_t number = static_cast<uint64_t>(block);
        return sight_.kinds ? number * sight_.n_kinds + static_cast<uint64_t>(sight_.kinds[entry]) : number;
    }

    // A linear map of the sums into blocks: their order and grouping do not matter, and nothing has to be sorted.
    uint64_t row_hash(size_t row, const int32_t* block, int32_t own) const {
        ProductSum sum;
        for (size_t e = rows_.first_entry(row); e < rows_.first_entry(row + 1); ++e) {
            const int32_t to = block[rows_.columns[e]];
            if (!sight_.leaving || to != own) sum.add(weights_[e], stirred(target(e, to) + 0x9E3779B97F4A7C15ull));
        }
        return sum.reduced(residues_[0].field());
    }

    const Rows rows_;
    const Sight sight_;
    const std::vector<Residues>& residues_;
    const EntryResidues<decltype(Rows::values)> weights_;
};

}  // namespace galton
