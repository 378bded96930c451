// Large arrays straight from the operating system.
//
// Pages come zeroed and count only once they are touched, so an array may be as large as its worst case. Huge pages, where
// the system grants them, save most page faults and most misses of the address translation; an array should be large
// enough that half a huge page at its end does not matter.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

namespace galton {

template <class T>
class Pages {
  public:
    Pages() = default;
    explicit Pages(size_t size, size_t huge_from = size_t{32} << 20) : size_(size) {
        if (bytes() == 0) return;
        void* memory = mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED) throw std::bad_alloc();
        data_ = static_cast<T*>(memory);
#ifdef MADV_HUGEPAGE
        if (bytes() >= huge_from) madvise(memory, bytes(), MADV_HUGEPAGE);
#endif
        (void)huge_from;
    }
    Pages(Pages&& other) noexcept { swap(other); }
    Pages& operator=(Pages&& other) noexcept {
        Pages(std::move(other)).swap(*this);
        return *this;
    }
    ~Pages() {
        if (data_) munmap(data_, bytes());
    }

    void swap(Pages& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
    }
    T* data() { return data_; }
    const T* data() const { return data_; }
    T& operator[](size_t i) { return data_[i]; }
    const T& operator[](size_t i) const { return data_[i]; }
    size_t size() const { return size_; }
    size_t bytes() const { return size_ * sizeof(T); }

    // Give the pages past the first `size` elements back.
    void shrink(size_t size) {
        if (size >= size_) return;
        if (size == 0) {
            *this = {};
            return;
        }
        constexpr size_t page = 4096;
        auto pages = [](size_t bytes) { return (bytes + page - 1) / page * page; };
        size_t keep = pages(size * sizeof(T)), have = pages(bytes());
        if (keep < have) munmap(reinterpret_cast<char*>(data_) + keep, have - keep);
        size_ = size;
    }

  private:
    T* data_ = nullptr;
    size_t size_ = 0;
};

}  // namespace galton
