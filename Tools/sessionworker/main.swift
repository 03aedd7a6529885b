import Foundation
import SessionKit

let usage = """
  Usage: sessionworker JOURNAL SECRETS URL [timeout=MS] [grace=MS] [follow=no] [offline=MS]
                       [former=URL] [aside=yes] [streams=closed]

  One process of a test: a session that is driven by lines of standard input, each answered by a line
  of JSON on standard output as soon as it is done. Ends with its input. With offline, an expiry keeps the
  user's data, and the log of changes is opened before the session and settled with it; a change is tried
  again after so many milliseconds. With former, tokens of that backend are used at URL. With aside, a
  journal that cannot be used is set aside. With streams=closed, the descriptors 0, 1 and 2 are closed, the
  lines move to others, and before each answer the process writes to 0, 1 and 2 all the same.

  open                 opens the session; nothing that follows is begun before
  login USER PASSWORD  signs in
  adopt ACCESS REFRESH takes over tokens of an old layer
  refresh              gets a newer token
  token                gets one that is good
  call                 gets one that is good and asks the server for something protected with it
  switch ROLE SCHOOL   switches the context
  logout               logs out
  await KIND           waits for an event of that kind since the opening
  changes              opens the log of changes beside the journal
  add KEY              adds a new task to it, with that UUID
  drain                sends what waits; its status is how many the server took
  change WHAT WHERE TEXT KEY   adds "create task/1 Tent KEY" or "POST /notes gas KEY" to it
  sync                 sends what waits to /changes; its status is how many the server took
  state                says how the session stands
  stall                waits at the next reading of the token item, and then answers
  go                   lets it go on from there
  finish MS            finishes requests for so long after SIGINT or SIGTERM
  die MICROSECONDS     kills itself then, wherever it is
  close                closes the session
  many COUNT           opens further sessions, each in a folder of its own
  closeall             closes those
  threads              its status is how many threads the process has (Linux)
  descriptors          its status is how many files it has open (Linux)
  inotify              its status is how many instances of inotify it has (Linux)
  """

// The process that reads the output may end first.
signal(SIGPIPE, SIG_IGN)
guard let worker = Worker(arguments: CommandLine.arguments.dropFirst()) else {
  FileHandle.standardError.write(Data((usage + "\n").utf8))
  exit(64)
}
let (lines, input) = AsyncStream.makeStream(of: String.self)
let commands = worker.takeStreams()
Thread.detachNewThread { [commands] in
  let file = fdopen(commands, "r")
  var (line, size): (UnsafeMutablePointer<CChar>?, Int) = (nil, 0)
  while let file, getline(&line, &size, file) > 0, let line {
    input.yield(String(cString: line).filter { $0 != "\n" })
  }
  input.finish()
}
// Other child processes may keep the input open, so the process also ends when its parent does.
let parent = getppid()
Thread.detachNewThread {
  while getppid() == parent { sleep(1) }
  exit(0)
}
await worker.work(lines)
