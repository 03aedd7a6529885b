import Foundation
import SessionKit

let usage = """
  Usage: sessiondemo [JOURNAL]

  Lives one real session against a server on loopback, in about ten seconds: signs in, lets the
  token be refreshed, fails a refresh, switches context, expires, signs in again, logs out. Prints
  each event as a subscriber receives it, then the timeline replayed from the journal.

  JOURNAL  the file to write; it must not exist yet. Without it, one in the temporary folder.
  """

/// Prints a line at once, in order with what others write to standard output.
func emit(_ line: String) {
  FileHandle.standardOutput.write(Data((line + "\n").utf8))
}

/// Says what is wrong and ends with the exit code for wrong usage.
func refuse(_ problem: String) -> Never {
  FileHandle.standardError.write(Data("Error: \(problem)\nTry: sessiondemo --help\n".utf8))
  exit(64)
}

let arguments = CommandLine.arguments.dropFirst()
if arguments.contains("--help") || arguments.contains("-h") {
  emit(usage)
  exit(0)
}
guard arguments.count <= 1 else { refuse("one journal at most, not \(arguments.count)") }
if let option = arguments.first(where: { $0.hasPrefix("-") }) {
  refuse("there is no option \(option)")
}
let journal =
  arguments.first.map { URL(filePath: $0) }
  ?? FileManager.default.temporaryDirectory
  .appending(path: "sessiondemo-\(UUID().uuidString.prefix(8)).journal")
if FileManager.default.fileExists(atPath: journal.path) {
  refuse("\(journal.path) exists already, and the demo begins a life of its own; name a new file")
}

// Nothing here takes long: whatever hangs must not hang the shell that it was started from.
let watchdog = Thread {
  Thread.sleep(forTimeInterval: 60)
  FileHandle.standardError.write(Data("Error: the demo did not end within 60 s\n".utf8))
  exit(1)
}
watchdog.start()

do {
  try await Demo.run(journal: journal)
} catch {
  FileHandle.standardError.write(Data("Error: \(error)\n".utf8))
  exit(1)
}
