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
  ///
  /// `rights` has the owner and the mode of the path, and the user of the process. It is `nil` only
  /// on Apple's systems, if they allow access, as for a file that is protected until the device is
  /// unlocked. On other systems something else may deny it, such as a security module.
  case permissionDenied(path: String, rights: String? = nil)
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
  /// The server of a log does not answer, or the connection failed.
  ///
  /// `path` is the log's name, and `problem` says what failed, without secrets.
  case unavailable(path: String, problem: String)
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
      "The path of the journal is empty. Nothing was opened or created. Give a file path."
    case .danglingLink(let path):
      "\(path) is a symbolic link, and its target does not exist. No journal was created, because "
        + "the target may come back. Check the disk of the target, or remove the link."
    case .isDirectory(let path):
      "\(path) is a folder, not a journal. Give the path of a file in it."
    case .notARegularFile(let path):
      "\(path) is a device, pipe or socket, not a journal file. Give the path of a regular file."
    case .permissionDenied(let path, nil):
      "\(path) cannot be opened yet. Nothing was changed. Unlock the device, or check the file's "
        + "owner and mode."
    case .permissionDenied(let path, let rights?):
      "This process has no permission to open \(path): \(rights). Nothing was changed. Check the "
        + "owner, the mode, and the system's further rules of access."
    case .readOnlyFolder(let path):
      "The folder of \(path) is not writable, so the journal cannot be locked or created. Nothing "
        + "was changed. Check the folder's owner and mode, or read the journal with JournalReader."
    case .empty(let path):
      "\(path) is empty, but a journal has at least a header of 64 bytes. Nothing was changed. "
        + "If the file held nothing of value, remove it and open the journal again."
    case .notAJournal(let path):
      "\(path) is not a journal. Nothing was changed. Check the path."
    case .headerDamaged(let path):
      "The header of \(path) (its first 64 bytes) is damaged. No record can be verified without "
        + "it. Nothing was changed. Restore the file from a copy."
    case .newerFormat(let path, let found, let supported):
      "\(path) was written in format \(found). This version reads formats up to \(supported). "
        + "Nothing was changed. Use a newer version."
    case .unknownFeatures(let path, let features):
      "\(path) uses features of a newer version (bits 0x\(String(features, radix: 16))). This "
        + "version does not know them. Nothing was changed. Use a newer version."
    case .damaged(let path, let damage) where damage.flaw == .historyChanged:
      "\(path) is no longer the file that was read up to seq \(damage.sequence). It was truncated, "
        + "rewritten or replaced by another copy. Nothing was changed. Keep a copy, and open the "
        + "journal again to read its current records."
    case .damaged(let path, let damage):
      "\(path) is damaged at byte \(grouped(damage.offset)) (seq \(damage.sequence)): "
        + "\(damage.flaw.explanation). The part before it is intact. Nothing was changed. "
        + "Keep a copy, then run: sessionreplay verify \(path)"
    case .replaced(let path, let expected, let found):
      "\(path) is now journal \(found), not \(expected). Nothing was changed. Open it again."
    default:
      operationDescription
    }
  }

  private var operationDescription: String {
    switch self {
    case .diskFull(let path):
      "There is no space to write to \(path). The journal is unchanged. Free some space, and "
        + "append again."
    case .noRoomToCreate(let path):
      "There is no space to create a journal at \(path). None existed there, and none was created. "
        + "Free some space, and open the journal again."
    case .io(let path, let operation, let code):
      "The system refused to \(operation) \(path): \(systemMessage(code)) (errno \(code)). "
        + "Check the disk and the path."
    case .busy(let path, let waited):
      "Another process or object held the lock of \(path) for \(waited) ms. Nothing was written. "
        + "Try again."
    case .unavailable(let path, let problem):
      "The log \(path) cannot be reached: \(problem). It is not known whether the last append was "
        + "written. Check the server and the connection, and try again."
    case .conflict(let path, let expected, let found):
      "The last record of \(path) is \(found), but the append expected \(expected). Nothing was "
        + "written. Read the newer records, decide again, and append."
    case .poisoned(let path):
      "An earlier sync of \(path) failed, so the data that it wrote may be lost. This object "
        + "accepts no more calls. Open the journal again to read the records that it still has."
    case .recordTooLarge(let path, let bytes, let maximum):
      "The record has \(bytes) bytes, but \(path) allows at most \(maximum). Nothing was written. "
        + "Shorten the record."
    case .batchTooLarge(let path, let records, let bytes):
      "A batch of \(records) records and \(bytes) bytes is too large for \(path), which allows "
        + "65,536 records and 16 MiB. Nothing was written. Append the records in several batches."
    case .reservedKind(let path, let kind):
      "Record kind \(kind) is reserved for the journal itself. Nothing was written to \(path). Use "
        + "1…126 or 128…254."
    case .hardLinked(let path, let links):
      "\(path) has \(links) names (hard links), and the other names would keep the old content. "
        + "Nothing was changed. Remove the other names, or copy the file and use the copy."
    case .compactionRefused(let path, let refusal):
      "\(path) was not compacted: \(refusal.explanation). The journal is unchanged. "
        + refusal.advice
    case .closed(let path):
      "The journal \(path) was closed. Open it again."
    default:
      "The journal failed."
    }
  }
}

/// Why a compaction was given up.
public enum CompactionRefusal: Equatable, Sendable {
  /// The snapshot is longer than the longest record of the journal; both in bytes.
  case snapshotTooLarge(bytes: Int, maximum: Int)

  /// The journal belongs to another user, who could not open the new file.
  case otherOwner

  /// The new file did not read back as it was written.
  case copyDiffers

  /// The records of the new file result in another snapshot than those of the old one.
  case summaryDiffers
}

extension CompactionRefusal {
  /// The reason in words, for use after a colon.
  public var explanation: String {
    switch self {
    case .snapshotTooLarge(let bytes, let maximum):
      "its snapshot has \(bytes) bytes, but a record may have at most \(maximum)"
    case .otherOwner:
      "it belongs to another user, who could not open a file that this user creates"
    case .copyDiffers:
      "the content read back from the new file differs from what was written"
    case .summaryDiffers:
      "the snapshot and records of the new file result in another state than all records of the "
        + "old file"
    }
  }

  fileprivate var advice: String {
    switch self {
    case .snapshotTooLarge: "Make the snapshot smaller, or create the journal with larger records."
    case .otherOwner: "Compact the journal as its owner."
    case .copyDiffers: "Check the disk."
    case .summaryDiffers: "The fold that creates the snapshot loses data. Report this as a bug."
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
    case .impossibleHeader: "a record's header contains impossible values"
    case .sequenceBroken: "the record does not have the expected sequence"
    case .chainBroken: "the record does not continue the one before it"
    case .batchBroken: "the record does not continue its batch"
    case .shortPayload: "the file ends inside a record"
    case .payloadChecksum: "checksum mismatch"
    case .shortBatch: "the file ends inside a batch"
    case .onlyZeros: "only zeros follow"
    case .historyChanged: "the file no longer matches what was read before"
    }
  }
}

extension JournalError {
  /// Whether the file exists and can be read, but its content is unusable.
  ///
  /// False for faults of disks, rights or room.
  package var isOfUnusableFile: Bool {
    switch self {
    case .empty, .notAJournal, .headerDamaged, .newerFormat, .unknownFeatures, .damaged: true
    default: false
    }
  }

  /// Whether the file is now another journal, or this journal with another history.
  ///
  /// The error persists until the process opens the journal again.
  package var isOfAnotherHistory: Bool {
    switch self {
    case .replaced: true
    case .damaged(_, let damage): damage.flaw == .historyChanged
    default: false
    }
  }
}
