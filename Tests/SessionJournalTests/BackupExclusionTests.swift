import ChildProcesses
import Foundation
import SessionJournal
import Testing

@Suite("Backups")
struct BackupExclusionTests {
  @Test("JRN-1 the mark that excludes a file from backups equals the system's")
  func value() throws {
    let list = try PropertyListSerialization.propertyList(
      from: Data(BackupExclusion.value), format: nil)
    #expect(list as? String == "com.apple.backupd")
  }

  #if canImport(Darwin)
    @Test("JRN-1 a new journal is excluded from backups")
    func journal() throws {
      let scratch = try TemporaryFolder()
      try Journal.open(at: scratch.journal).close()
      let values = try URL(filePath: scratch.journal).resourceValues(
        forKeys: [.isExcludedFromBackupKey])
      #expect(values.isExcludedFromBackup == true)
    }
  #endif
}
