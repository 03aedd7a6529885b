internal import Foundation

// A thin main: everything else is in the files beside it.
exit(Program.run(Array(CommandLine.arguments.dropFirst())))
