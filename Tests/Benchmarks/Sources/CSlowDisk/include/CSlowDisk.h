#pragma once

/// From now on, `fsync` and `fdatasync` take that many microseconds longer in this process, for FileDB and for the
/// libraries of its peers alike. Only on Linux; elsewhere it does nothing.
void slow_disk_set_delay(unsigned microseconds);
