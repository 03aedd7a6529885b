import Foundation

let usage = """
  Usage: signinhost FOLDER [unobserved]

  One side of a sign-in in a real browser: an identity provider on a socket of 127.0.0.1 and a session whose
  view is that browser. Driven by lines of standard input; says what happens in lines of JSON on standard
  output. Ends with its input. With `unobserved` nobody tells the observer where the browser goes, which is a
  fault to be found.

  page [fragment]       signs in on the page; the answer in the redirect's query, or in its fragment
  silently              signs in without showing anything
  saw ADDRESS           the browser's page goes to this address
  hidden ADDRESS        the browser goes there where nobody sees it
  hiddenPage            and that has ended at a page
  leaves                the user closes the view
  refuse ERROR [TEXT]   the next redirect to the app holds this error
  malformed             the next redirect to the app is no form
  clearError            returns to idle
  logout                logs out
  server                says how the provider stands
  """

// The process that reads the output may end first.
signal(SIGPIPE, SIG_IGN)
let options = Array(CommandLine.arguments.dropFirst())
guard let folder = options.first, options.dropFirst().allSatisfy({ $0 == "unobserved" }) else {
  FileHandle.standardError.write(Data((usage + "\n").utf8))
  exit(64)
}
let (lines, input) = AsyncStream.makeStream(of: String.self)
Thread.detachNewThread {
  while let line = readLine() { input.yield(line) }
  input.finish()
}
do {
  let host = try await SignInHost(folder: folder, isObserved: options.count == 1)
  await host.work(lines)
} catch {
  FileHandle.standardError.write(Data("there is no host: \(error)\n".utf8))
  exit(1)
}
