internal import Foundation

do {
  let options = try FleetOptions(Array(CommandLine.arguments.dropFirst()))
  try Fleet(options).write()
} catch let error as FleetOptions.Problem {
  FileHandle.standardError.write(Data("makefleet: \(error.text)\n".utf8))
  exit(64)
} catch {
  FileHandle.standardError.write(Data("makefleet: \(error)\n".utf8))
  exit(74)
}
