import Foundation
import SessionJournal
import SessionKit

let usage = """
  Usage: sessiondemo [JOURNAL]

  Lives one real session against a server on loopback, in a few seconds: signs in, lets the token be
  refreshed, fails a refresh, switches context, expires, signs in again, logs out. Prints each event
  as a subscriber receives it, then the timeline replayed from the journal.

  JOURNAL  the file to write; it must not exist yet. Without it, one in the temporary folder.

  Exit codes: 0 done, 1 it went wrong, 64 wrong usage, 66 no such folder, 74 not readable or writable.
  """

/// Prints a problem with the command line, and ends the process.
func refuse(_ problem: String) -> Never {
  Stage.fail("\(problem)\nTry: sessiondemo --help", 64)
}

/// Returns the exit code for an error of the session.
func code(of error: any Error) -> Int32 {
  guard let cause = (error as? SessionError)?.underlyingError as? JournalError else { return 1 }
  switch cause {
  case .missing, .folderMissing: return 66
  default: return 74
  }
}

Stage.prepare(deadline: 60)
let arguments = CommandLine.arguments.dropFirst()
if arguments.contains("--help") || arguments.contains("-h") {
  Stage.say(usage)
  Stage.leave(0)
}
guard arguments.count <= 1 else { refuse("one journal at most, not \(arguments.count)") }
if let option = arguments.first(where: { $0.hasPrefix("-") }) {
  refuse("there is no option \(option)")
}
if arguments.first == "" { refuse("the name of the journal is empty") }
let journal =
  arguments.first.map { URL(filePath: $0) }
  ?? FileManager.default.temporaryDirectory
  .appending(path: "sessiondemo-\(UUID().uuidString.prefix(8)).journal")
if FileManager.default.fileExists(atPath: journal.path) {
  refuse("\(journal.path) exists already, and the demo begins a life of its own; name a new file")
}

do {
  try await Demo.run(journal: journal)
} catch {
  Stage.fail("\(error)", code(of: error))
}
