import Foundation

// Sessions with tokens that live for seconds, for minutes. It measures what a long-running server must not lose:
// memory, descriptors, threads, refreshes and time. Tools/soak/run starts it.
let arguments = Array(CommandLine.arguments.dropFirst())
do {
  if arguments == ["server"] {
    try SoakServer.run()
  } else {
    let options = try SoakOptions(arguments)
    let problems = try await Soak(options).run()
    for problem in problems { say("problem: \(problem)") }
    say(problems.isEmpty ? "passed" : "failed: \(problems.count) of the limits were exceeded")
    exit(problems.isEmpty ? 0 : 1)
  }
} catch let error as SoakOptions.Wrong {
  say("\(error.reason)\n\(SoakOptions.usage)")
  exit(64)
}
