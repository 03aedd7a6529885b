#if canImport(Darwin)
  internal import Darwin
#endif

/// The exclusion of a file from the system's backups.
///
/// A journal restored from a backup would hold tokens that were rotated long ago.
///
/// - Requirement: JRN-1
package enum BackupExclusion {
  /// The extended attribute that Foundation's `isExcludedFromBackup` sets.
  static let attribute = "com.apple.metadata:com_apple_backup_excludeItem"

  /// Its value: a binary property list of the string `com.apple.backupd`.
  package static let value: [UInt8] = {
    let text = Array("com.apple.backupd".utf8)
    let start = Array("bplist00".utf8) + [0x5F, 0x10, UInt8(text.count)] + text
    let table = UInt8(start.count)
    // There is one object. The table before this trailer holds its offset, in one byte.
    let trailer: [UInt8] =
      [0, 0, 0, 0, 0, 0, 1, 1] + [0, 0, 0, 0, 0, 0, 0, 1] + [0, 0, 0, 0, 0, 0, 0, 0]
      + [0, 0, 0, 0, 0, 0, 0, table]
    return start + [8] + trailer
  }()

  /// Marks an open file; systems without such a mark have no such backups.
  static func mark(_ descriptor: Int32) {
    #if canImport(Darwin)
      // A failure is ignored: a volume without attributes is not in backups that read them.
      _ = fsetxattr(descriptor, attribute, value, value.count, 0, 0)
    #endif
  }
}
