import ReplayCommands

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

// A pipe that is closed early is an error of `write` and not the end of the process.
signal(SIGPIPE, SIG_IGN)
exit(ReplayTool.run(Array(CommandLine.arguments.dropFirst())))
