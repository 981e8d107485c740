#include "db/page_checksums.hpp"

#include <sqlite3.h>
#include <zlib.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

namespace tuneband {
namespace {

constexpr int kChecksumBytes = 4;
constexpr int kSmallestPage = 512;

// Where SQLite's file format says how pages are (https://www.sqlite.org/fileformat2.html, 1.3).
constexpr int kPageSizeAt = 16;  // two bytes, most significant first; 1 stands for 65536
constexpr int kRoomAt = 20;      // bytes at the end of each page that are not SQLite's
constexpr int kHeaderBytes = 100;

using Page = const unsigned char*;

// What SQLite holds for an open database: ours, and behind it that of the file system.
struct File {
  sqlite3_file base;
  int page_bytes;  // 0: without checksums, as far as is known
  std::vector<unsigned char>* page;

  sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};

File& ours(sqlite3_file* file) { return *reinterpret_cast<File*>(file); }

// Of a page of so many bytes that is the number-th, so that one at another's place is wrong too.
std::uint32_t checksum(Page page, int bytes, std::uint32_t number) {
  const std::array<Bytef, 4> place{static_cast<Bytef>(number), static_cast<Bytef>(number >> 8), static_cast<Bytef>(number >> 16),
                                   static_cast<Bytef>(number >> 24)};
  const uLong content = ::crc32_z(0, page, static_cast<std::size_t>(bytes - kChecksumBytes));
  return static_cast<std::uint32_t>(::crc32_z(content, place.data(), place.size()));
}

// The first page says how all are.
void learn(File& file, Page header) {
  const int size = header[kPageSizeAt] << 8 | header[kPageSizeAt + 1];
  file.page_bytes = header[kRoomAt] == kChecksumBytes ? (size == 1 ? 65536 : size) : 0;
}

bool is_whole_page(const File& file, int bytes, sqlite3_int64 at) {
  return file.page_bytes >= kSmallestPage && bytes == file.page_bytes && at % bytes == 0;
}

std::uint32_t number_of(int bytes, sqlite3_int64 at) { return static_cast<std::uint32_t>(at / bytes + 1); }

int read(sqlite3_file* file, void* to, int bytes, sqlite3_int64 at) {
  File& mine = ours(file);
  const int code = mine.real()->pMethods->xRead(mine.real(), to, bytes, at);
  if (code != SQLITE_OK) return code;  // also of a file that is shorter
  const auto page = static_cast<Page>(to);
  if (at == 0 && bytes >= kHeaderBytes) learn(mine, page);
  if (!is_whole_page(mine, bytes, at)) return SQLITE_OK;
  std::uint32_t expected = 0;
  std::memcpy(&expected, page + bytes - kChecksumBytes, kChecksumBytes);
  if (checksum(page, bytes, number_of(bytes, at)) == expected) return SQLITE_OK;
  sqlite3_log(SQLITE_CORRUPT, "the checksum of page %u is wrong", number_of(bytes, at));
  return SQLITE_CORRUPT;
}

int write(sqlite3_file* file, const void* from, int bytes, sqlite3_int64 at) {
  File& mine = ours(file);
  const auto page = static_cast<Page>(from);
  if (at == 0 && bytes >= kSmallestPage) learn(mine, page);
  if (!is_whole_page(mine, bytes, at)) return mine.real()->pMethods->xWrite(mine.real(), from, bytes, at);
  const std::uint32_t sum = checksum(page, bytes, number_of(bytes, at));
  mine.page->assign(page, page + bytes);
  std::memcpy(mine.page->data() + bytes - kChecksumBytes, &sum, kChecksumBytes);
  return mine.real()->pMethods->xWrite(mine.real(), mine.page->data(), bytes, at);
}

int close(sqlite3_file* file) {
  File& mine = ours(file);
  delete mine.page;
  return mine.real()->pMethods->xClose(mine.real());
}

// Everything else is the file system's.
template <auto method, class... Arguments>
auto pass(sqlite3_file* file, Arguments... arguments) {
  sqlite3_file* const real = ours(file).real();
  return (real->pMethods->*method)(real, arguments...);
}

using Methods = sqlite3_io_methods;
constexpr Methods kMethods{
    2,  // without the third version's mapped pages, which nobody would look at
    close,
    read,
    write,
    pass<&Methods::xTruncate, sqlite3_int64>,
    pass<&Methods::xSync, int>,
    pass<&Methods::xFileSize, sqlite3_int64*>,
    pass<&Methods::xLock, int>,
    pass<&Methods::xUnlock, int>,
    pass<&Methods::xCheckReservedLock, int*>,
    pass<&Methods::xFileControl, int, void*>,
    pass<&Methods::xSectorSize>,
    pass<&Methods::xDeviceCharacteristics>,
    pass<&Methods::xShmMap, int, int, int, void volatile**>,
    pass<&Methods::xShmLock, int, int, int>,
    pass<&Methods::xShmBarrier>,
    pass<&Methods::xShmUnmap, int>,
    nullptr,
    nullptr,
};

// Logs and temporary files are opened as they are.
int open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* opened) {
  auto* const system = static_cast<sqlite3_vfs*>(vfs->pAppData);
  if ((flags & SQLITE_OPEN_MAIN_DB) == 0) return system->xOpen(system, name, file, flags, opened);
  File& mine = ours(file);
  mine = {};
  const int code = system->xOpen(system, name, mine.real(), flags, opened);
  if (code != SQLITE_OK) return code;  // without methods there is nothing to close
  mine.page = new std::vector<unsigned char>;
  mine.base.pMethods = &kMethods;
  return SQLITE_OK;
}

// What SQLite has for this system but for the opening of files. Of its other functions none uses the structure it is called with.
sqlite3_vfs made() {
  sqlite3_vfs* const system = sqlite3_vfs_find(nullptr);
  sqlite3_vfs vfs = *system;
  vfs.zName = "tuneband";
  vfs.szOsFile += static_cast<int>(sizeof(File));
  vfs.pAppData = system;
  vfs.pNext = nullptr;
  vfs.xOpen = open;
  return vfs;
}

}  // namespace

const char* files_with_checksums() {
  static sqlite3_vfs vfs = made();
  static const int registered = sqlite3_vfs_register(&vfs, 0);
  return registered == SQLITE_OK ? vfs.zName : nullptr;
}

void leave_room_for_checksums(sqlite3* database) {
  int bytes = kChecksumBytes;
  sqlite3_file_control(database, "main", SQLITE_FCNTL_RESERVE_BYTES, &bytes);
}

bool room_for_checksums(sqlite3* database) {
  int bytes = -1;  // changes nothing
  sqlite3_file_control(database, "main", SQLITE_FCNTL_RESERVE_BYTES, &bytes);
  return bytes == kChecksumBytes;
}

}  // namespace tuneband
