// Preloaded into the server that bench_heap takes as its baseline: glibc's heaps stay as they are by default.
extern "C" int mallopt(int /*parameter*/, int /*value*/) noexcept { return 1; }
