#if canImport(Darwin)
  internal import Darwin
#endif

/// Keeps a file out of the system's backups: a journal that came back from one would tell of
/// tokens that were rotated long ago.
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
    // One object, whose offset of one byte stands in the table before this trailer.
    let trailer: [UInt8] =
      [0, 0, 0, 0, 0, 0, 1, 1] + [0, 0, 0, 0, 0, 0, 0, 1] + [0, 0, 0, 0, 0, 0, 0, 0]
      + [0, 0, 0, 0, 0, 0, 0, table]
    return start + [8] + trailer
  }()

  /// Marks an open file; systems that keep no such mark have no such backups.
  static func mark(_ descriptor: Int32) {
    #if canImport(Darwin)
      // A volume without attributes is not backed up by what reads them.
      _ = fsetxattr(descriptor, attribute, value, value.count, 0, 0)
    #endif
  }
}
