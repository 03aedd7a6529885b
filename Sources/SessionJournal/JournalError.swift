/// Why a journal could not be opened, read or written.
///
/// Each case names the path of the file, if there is one.
public enum JournalError: Error, Equatable, Sendable {
  /// There is no such file.
  case missing(path: String)
  /// The folder that should hold the file does not exist.
  case folderMissing(path: String)
  /// No path was given.
  case emptyPath
  /// A symbolic link is at the path, and its target does not exist.
  case danglingLink(path: String)
  /// The path leads to a folder.
  case isDirectory(path: String)
  /// The path leads to a device, pipe or socket.
  case notARegularFile(path: String)
  /// The system does not let this process open the file.
  case permissionDenied(path: String)
  /// The folder does not let this process create files next to the journal.
  case readOnlyFolder(path: String)
  /// The file has no bytes at all.
  case empty(path: String)
  /// The file is not a journal.
  case notAJournal(path: String)
  /// The header (the first 64 bytes) is that of a journal, but damaged.
  case headerDamaged(path: String)
  /// A later version of this library wrote the file. By its header, this version cannot read it.
  case newerFormat(path: String, found: UInt16, supported: UInt16)
  /// A later version wrote the file with features that this one does not know.
  ///
  /// Each unknown feature is one bit of `features`.
  case unknownFeatures(path: String, features: UInt32)
  /// Acknowledged data is missing or changed.
  case damaged(path: String, JournalDamage)
  /// Another journal now has the file's path.
  case replaced(path: String, expected: JournalIdentifier, found: JournalIdentifier)
  /// The disk is full, a quota is used up, or a limit on file sizes is reached.
  case diskFull(path: String)
  /// There is no room on the disk for a new journal.
  case noRoomToCreate(path: String)
  /// The system refused an operation; `code` is its errno.
  case io(path: String, operation: String, code: Int32)
  /// Another process or object held the lock until the deadline; `waited` is in milliseconds.
  case busy(path: String, waited: UInt64)
  /// The last record is not the one that the caller expected; both numbers are sequences.
  case conflict(path: String, expected: UInt64, found: UInt64)
  /// An earlier sync failed, so the state that this object holds cannot be trusted.
  case poisoned(path: String)
  /// A payload is longer than the journal allows; both lengths are in bytes.
  case recordTooLarge(path: String, bytes: Int, maximum: Int)
  /// A batch has more than 65,536 records or more than 16 MiB.
  case batchTooLarge(path: String, records: Int, bytes: Int)
  /// The file has other names (hard links).
  ///
  /// Replacing or removing it would leave the old content under those names.
  case hardLinked(path: String, links: UInt64)
  /// A compaction was given up; the refusal says why.
  case compactionRefused(path: String, CompactionRefusal)
  /// The kind of a draft is reserved for the journal itself.
  case reservedKind(path: String, kind: UInt8)
  /// The journal was closed.
  case closed(path: String)
}

extension JournalError: CustomStringConvertible {
  /// Says what happened, where, the consequence and the next step.
  public var description: String {
    switch self {
    case .missing(let path):
      "There is no journal at \(path). Check the path."
    case .folderMissing(let path):
      "The folder of \(path) does not exist, so no journal can be created. Create the folder first."
    case .emptyPath:
      "The path of the journal is empty. Nothing was opened or created. Name a file."
    case .danglingLink(let path):
      "\(path) is a link that leads to nothing. No journal was created, since the one it was made "
        + "for may come back. Check the disk it leads to, or remove the link."
    case .isDirectory(let path):
      "\(path) is a folder, not a journal. Name a file in it."
    case .notARegularFile(let path):
      "\(path) is a device, pipe or socket, not a journal file. Name a regular file."
    case .permissionDenied(let path):
      "This user may not open \(path). Nothing was changed. Check who owns it and its mode."
    case .readOnlyFolder(let path):
      "The folder of \(path) cannot be written to, so the journal cannot be locked or created. "
        + "Nothing was changed. Check the folder's owner and mode, or read without opening."
    case .empty(let path):
      "\(path) is empty: a journal has at least a header of 64 bytes. Nothing was changed. "
        + "If nothing of value was in it, remove it and open again."
    case .notAJournal(let path):
      "\(path) is not a journal. Nothing was changed. Check the path."
    case .headerDamaged(let path):
      "The header of \(path) (its first 64 bytes) is damaged. Without it no record can be "
        + "verified; nothing was changed. Restore the file from a copy."
    case .newerFormat(let path, let found, let supported):
      "\(path) was written in format \(found); this version reads up to \(supported). "
        + "Nothing was changed. Use a newer version."
    case .unknownFeatures(let path, let features):
      "\(path) uses features of a newer version (bits 0x\(String(features, radix: 16))) that this "
        + "version does not know. Nothing was changed. Use a newer version."
    case .damaged(let path, let damage) where damage.flaw == .historyChanged:
      "\(path) is no longer the file that was read of it up to seq \(damage.sequence): it was cut, "
        + "rewritten or exchanged for another copy. Nothing was changed. Keep a copy and open it "
        + "anew to see what is there."
    case .damaged(let path, let damage):
      "\(path) is damaged at byte \(grouped(damage.offset)) (seq \(damage.sequence)): "
        + "\(damage.flaw.explanation). What comes before it is intact; nothing was changed. "
        + "Keep a copy, then run: sessionreplay verify \(path)"
    case .replaced(let path, let expected, let found):
      "\(path) is now journal \(found), not \(expected). Nothing was changed. Open it anew."
    default:
      operationDescription
    }
  }

  private var operationDescription: String {
    switch self {
    case .diskFull(let path):
      "There is no room to write to \(path). The journal is as it was before; free some space "
        + "and append again."
    case .noRoomToCreate(let path):
      "There is no room to create a journal at \(path). None was there and none is there now; free "
        + "some space and open again."
    case .io(let path, let operation, let code):
      "The system refused to \(operation) \(path): \(systemMessage(code)) (errno \(code)). "
        + "Check the disk and the path."
    case .busy(let path, let waited):
      "Somebody else held the lock of \(path) for \(waited) ms. Nothing was written. Try again."
    case .conflict(let path, let expected, let found):
      "The last record of \(path) is \(found), not \(expected) as the append asked. Nothing was "
        + "written. Read on, decide again and append."
    case .poisoned(let path):
      "An earlier sync of \(path) failed, so what it wrote may be lost. This object takes no "
        + "more calls; open the journal anew to see what is there."
    case .recordTooLarge(let path, let bytes, let maximum):
      "A record of \(bytes) bytes is more than the \(maximum) that \(path) allows. Nothing was "
        + "written. Shorten it."
    case .batchTooLarge(let path, let records, let bytes):
      "A batch of \(records) records and \(bytes) bytes is too large for \(path) (65,536 "
        + "records, 16 MiB). Nothing was written. Append in parts."
    case .reservedKind(let path, let kind):
      "Record kind \(kind) belongs to the journal. Nothing was written to \(path). Use 1…126 or "
        + "128…254."
    case .hardLinked(let path, let links):
      "\(path) has \(links) names (hard links), and the old content would go on under the others. "
        + "Nothing was changed. Remove the other names, or copy the file and use the copy."
    case .compactionRefused(let path, let refusal):
      "\(path) was not compacted: \(refusal.explanation). The journal is as it was before. "
        + refusal.advice
    case .closed(let path):
      "The journal \(path) was closed. Open it anew."
    default:
      "The journal failed."
    }
  }
}

extension CompactionRefusal {
  /// The reason in words, for use after a colon.
  public var explanation: String {
    switch self {
    case .snapshotTooLarge(let bytes, let maximum):
      "its snapshot has \(bytes) bytes, and a record may have \(maximum)"
    case .otherOwner:
      "it belongs to another user, who could not open a file that this one makes"
    case .copyDiffers:
      "the new file did not read back as it was written"
    case .summaryDiffers:
      "snapshot and records of the new file gave another state than all records of the old one"
    }
  }

  fileprivate var advice: String {
    switch self {
    case .snapshotTooLarge: "Make the snapshot smaller, or create the journal with larger records."
    case .otherOwner: "Compact it as its owner."
    case .copyDiffers: "Check the disk."
    case .summaryDiffers: "The fold that makes the snapshot loses something; report that as a bug."
    }
  }
}

/// Formats a number with a comma as the thousands separator.
private func grouped(_ number: UInt64) -> String {
  guard number >= 1000 else { return String(number) }
  let rest = String(number % 1000)
  return grouped(number / 1000) + "," + String(repeating: "0", count: 3 - rest.count) + rest
}

extension JournalFlaw {
  /// The flaw in words, for use after a colon.
  public var explanation: String {
    switch self {
    case .shortHeader: "the file ends inside a record's header"
    case .headerChecksum: "checksum mismatch in a record's header"
    case .impossibleHeader: "a record's header holds impossible values"
    case .sequenceBroken: "another record stands where this one should"
    case .chainBroken: "the record does not continue the one before it"
    case .batchBroken: "the record does not continue its batch"
    case .shortPayload: "the file ends inside a record"
    case .payloadChecksum: "checksum mismatch"
    case .shortBatch: "the file ends inside a batch"
    case .onlyZeros: "only zeros follow"
    case .historyChanged: "the file is no longer what was read of it before"
    }
  }
}
