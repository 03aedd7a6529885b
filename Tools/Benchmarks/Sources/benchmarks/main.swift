internal import Foundation

// This file is small on purpose; the rest of the program is in the files beside it.
exit(Program.run(Array(CommandLine.arguments.dropFirst())))
