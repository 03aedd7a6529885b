internal import SessionExplain
internal import SessionJournal

extension JournalFile {
  /// Returns the explanation of evidence from this file, which shows these names.
  func explanation(of evidence: Evidence, in names: JournalNames = JournalNames()) -> Explanation {
    let explanation = Explainer.explain(evidence, in: names).opened(by: original?.opening)
    return redactor.isRedacting ? explanation.redacted : explanation
  }

  /// Rejects a change log if names are to be replaced: its requests may hold names anywhere.
  func requireRedactable() throws(ToolError) {
    guard redactor.isRedacting, case .changes = try otherLog() else { return }
    throw .usage(
      .changeLog, "\(name) is a change log: its paths and reasons may hold names, and stay.",
      next: "the same without --redact; verify shows no names")
  }

  /// Returns the files with the same pseudonym for the same value in all of them.
  ///
  /// Without a chosen key, all have the key of the first file with a readable header.
  static func withOneKey(_ files: [JournalFile]) -> [JournalFile] {
    guard files.count > 1, let redactor = files.first?.redactor, redactor.needsKey,
      redactor.isPerJournal
    else { return files }
    for file in files {
      guard let header = file.readableHeader else { continue }
      return files.map { file in
        var file = file
        file.redactor = file.redactor.shared(with: header)
        return file
      }
    }
    return files
  }

  private var readableHeader: JournalHeader? {
    do throws(ToolError) {
      return try readable().header()
    } catch {
      // The command that reads the file reports what is wrong with it.
      return nil
    }
  }

  /// Returns the header from the file's first 64 bytes.
  func header() throws(ToolError) -> JournalHeader {
    do throws(JournalError) {
      return try JournalReader(path: path, fileSystem: files).header
    } catch {
      throw ToolError(error, in: self)
    }
  }
}
