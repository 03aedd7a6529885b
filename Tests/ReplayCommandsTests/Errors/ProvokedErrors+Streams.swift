import ChildProcesses
import Foundation
import SessionJournal

/// Command lines that provoke the errors that pages name; each list is of one family of commands.
enum ProvokedErrors {
  /// Errors that need more than a command line: a system that refuses, a signal, another process.
  static let elsewhere = elsewhereInStreams.union(elsewhereInFiles)

  /// By the error's name, the arguments; files are in `folder`.
  static func all(in folder: TemporaryFolder) throws -> [String: [String]] {
    try streams(in: folder).merging(files(in: folder)) { first, _ in first }
  }
}

extension ProvokedErrors {
  /// These need a system that refuses, or another process; see SystemTests and FollowTests.
  static let elsewhereInStreams: Set = [
    "permissionDenied", "inputOutput", "output", "replaced",
  ]

  static func streams(in folder: TemporaryFolder) throws -> [String: [String]] {
    let (journal, empty) = (folder.file("a.journal"), try folder.write([], to: "empty"))
    try FileManager.default.createDirectory(
      atPath: folder.file("no journals"), withIntermediateDirectories: true)
    let header = try Array(folder.bytes("a.journal").prefix(64))
    return [
      "torn": ["verify", folder.file("torn.journal")],
      "undetermined": ["timeline", folder.file("undetermined.journal")],
      "damaged": ["state", folder.file("damaged.journal")],
      "undecodable": ["timeline", folder.file("undecodable.journal")],
      "illegal": ["state", folder.file("illegal.journal")],
      "unknownKind": ["state", folder.file("unknown.journal")],
      "empty": ["verify", empty],
      "isDirectory": ["timeline", folder.path],
      "notARegularFile": ["verify", "/dev/null"],
      "notAJournal": ["verify", try folder.write(Array("hello".utf8), to: "text")],
      "noJournal": ["stats", folder.file("no journals")],
      "headerDamaged": ["verify", try folder.write(Array(header.dropLast()), to: "cut")],
      "newerFormat": ["verify", try folder.write(newer(header), to: "newer")],
      "missing": ["verify", folder.file("none")],
      "missingCommand": [],
      "unknownCommand": ["timelime"],
      "unknownOption": ["timeline", "--sinse", "@1", journal],
      "unexpectedValue": ["timeline", "--reverse=yes", journal],
      "missingValue": ["timeline", journal, "--since"],
      "missingOperand": ["state"],
      "extraOperand": ["state", journal, journal],
      "badValue": ["timeline", "-n", "few", journal],
      "badSelector": ["state", "--at", "soon", journal],
      "badKind": ["timeline", "--kind", "logn", journal],
      "badReason": ["timeline", "--reason", "rejectd", journal],
      "badDuration": ["follow", "--timeout", "soon", journal],
      "tooManyInputs": ["verify", journal, "-"],
      "timedOut": ["follow", "-n0", "--until-kind", "logout", "--timeout", "0ms", journal],
      "compacted": ["state", "--at", "@3", folder.file("compacted.journal")],
      "changeLog": ["why", folder.file("changes.log")],
      "conflict": ["why", "--all", "--at", "@1", journal],
      "beyondTheEnd": ["state", "--at", "@999", journal],
      "beyondTheStart": ["state", "--at", "@-999", journal],
    ]
  }

  /// A header that says that readers of version 1 do not understand the file.
  static func newer(_ header: [UInt8]) -> [UInt8] {
    var bytes = header
    bytes[8] = 2
    bytes[10] = 2
    var checksum = Checksum()
    checksum.extend(over: Array(bytes[..<60]))
    withUnsafeBytes(of: checksum.value.littleEndian) { bytes.replaceSubrange(60..., with: $0) }
    return bytes
  }
}
