internal import SessionExplain
internal import SessionJournal

extension ToolError {
  /// Converts the journal's error, with the tool's exit code and the file's name as the user gave
  /// it.
  init(_ error: JournalError, in file: JournalFile) {
    let name = file.name
    // A read failed because the command must end.
    guard !file.interruption.isRaised else {
      self = file.interruption.error
      return
    }
    switch error {
    case .missing, .danglingLink:
      guard !NearFile.isLink(file.path) else {
        self.init(
          .missing, .missing, "\(name) is a link, and there is no file at its end.",
          next: "check the target of the link")
        return
      }
      self.init(
        .missing, .missing, "There is no file at \(name).",
        next: NearFile.suggestion(for: file.path) ?? "check the path")
    case .emptyPath:
      self.init(
        .missing, .missing, "There is no file at an empty path.", next: "the path of a journal")
    case .folderMissing:
      self.init(
        .missing, .missing, "There is no file at \(name): a part of its path is no folder.",
        next: "check the path")
    case .isDirectory:
      self.init(
        .damaged, .isDirectory, "\(name) is a folder, not a journal.",
        next: "name a journal file in it")
    case .notARegularFile:
      self.init(
        .damaged, .notARegularFile, "\(name) is a device, pipe or socket, not a journal file.",
        next: "a regular file, or - to read standard input")
    case .permissionDenied(_, let rights):
      self.init(
        .inputOutput, .permissionDenied,
        "This user may not read \(name)" + (rights.map { ": \($0)." } ?? "."),
        next: "check the file's owner and mode, or run as its owner")
    case .empty:
      self.init(
        .damaged, .empty, "\(name) is empty; a journal has at least a header of 64 bytes.",
        next: "check the path")
    case .notAJournal:
      self.init(
        .damaged, .notAJournal, "\(name) is not a journal: it does not begin like one.",
        consequence:
          "If it was one, its beginning was overwritten, as by a power failure, and nothing "
          + "in it can be verified. An app with policy.recovery = .resume sets it aside and goes on.",
        next: "check the path")
    case .headerDamaged:
      self.init(
        .damaged, .headerDamaged, "The header of \(name), its first 64 bytes, is damaged.",
        consequence: "Without it no record can be verified, so none is shown.",
        next: "a copy of the file")
    case .newerFormat(_, let found, let supported):
      self.init(
        .damaged, .newerFormat,
        "\(name) is in format \(found), this version reads up to \(supported).",
        consequence: "Nothing is shown, since it might be misread.",
        next: "a newer version of sessionreplay")
    case .unknownFeatures(_, let features):
      self.init(
        .damaged, .newerFormat,
        "\(name) uses features of a newer version (bits 0x\(String(features, radix: 16))).",
        consequence: "Nothing is shown, since it might be misread.",
        next: "a newer version of sessionreplay")
    case .damaged(_, let damage):
      self = JournalFault.damaged(damage).error(
        name, consequence: "The file changed while it was read.")
    case .busy(_, let waited):
      self.init(
        .busy, .busy, "Another process held the lock of \(name) for \(waited) ms.",
        next: "again, a little later")
    case .io(_, let operation, let errno):
      self.init(
        .inputOutput, .inputOutput,
        "The system refused to \(operation) \(name): \(systemMessage(errno)) (errno \(errno)).",
        next: "check the disk and the path")
    case .replaced(_, let expected, let found):
      self.init(
        .damaged, .replaced,
        file.redactor.isRedacting
          ? "Another journal has taken the place of \(name)."
          : "Another journal (\(found)) has taken the place of \(name), which was journal \(expected).",
        consequence: "What came to the one before was shown.", next: "the same command again")
    case .readOnlyFolder, .diskFull, .noRoomToCreate, .unavailable, .conflict, .poisoned,
      .recordTooLarge, .batchTooLarge, .reservedKind, .hardLinked, .compactionRefused, .closed:
      self.init(.unexpected, .unexpected, error.description)
    }
  }
}

/// Finds the file that the user probably meant by a path that does not exist.
private enum NearFile {
  /// Returns the file in the same folder with the most similar name, or the only journal there.
  ///
  /// Returns `nil` if there is none.
  static func suggestion(for path: String) -> String? {
    guard !path.isEmpty, !path.hasSuffix("/") else { return nil }
    let names = names(beside: path)
    let start = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
    let (folder, wanted) = (path[..<start], path[start...].lowercased())
    // No file has a longer name.
    guard wanted.utf8.count <= 255 else { return nil }
    let scored = names.map { ($0, Suggestion.distance(wanted, $0.lowercased())) }
    let journals = names.filter { $0.hasSuffix(".journal") }
    let near = scored.filter { $0.1 <= min(2, wanted.count / 2) }.min { $0.1 < $1.1 }?.0
    guard let found = near ?? (journals.count == 1 ? journals[0] : nil) else { return nil }
    return (String(folder) + found).quotedWhereNeeded
  }

  /// Whether a link stands at the path.
  static func isLink(_ path: String) -> Bool {
    do throws(SystemFault) {
      return try POSIXFileSystem().isLink(path)
    } catch {
      return false
    }
  }

  /// The visible names in the folder of a path; none if it cannot be listed.
  private static func names(beside path: String) -> [String] {
    do throws(SystemFault) {
      return try POSIXFileSystem().names(beside: path).filter { !$0.hasPrefix(".") }.sorted()
    } catch {
      return []
    }
  }
}
