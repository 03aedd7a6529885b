/// The command line of `makefleet`.
struct FleetOptions: Sendable {
  /// What is wrong with the command line.
  struct Problem: Error {
    let text: String
  }

  /// The folder in which the journals are made; it must not exist.
  var folder = ""
  /// The number of journals.
  var journals = 400
  /// The seed; the same seed makes the same fleet, except for the identifiers of journals.
  var seed: UInt64 = 20_261_125

  init(_ arguments: [String]) throws {
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      switch argument {
      case "--journals": journals = try Self.number(rest.popFirst(), 1...1_000_000, argument)
      case "--seed": seed = UInt64(try Self.number(rest.popFirst(), 0...Int.max, argument))
      case _ where !argument.hasPrefix("-") && folder.isEmpty: folder = argument
      default: throw Problem(text: "\(argument) is unknown. \(Self.usage)")
      }
    }
    guard !folder.isEmpty else { throw Problem(text: "a folder is needed. \(Self.usage)") }
  }

  private static let usage = "Usage: makefleet FOLDER [--journals N] [--seed N]"

  private static func number(_ text: String?, _ range: ClosedRange<Int>, _ option: String) throws
    -> Int
  {
    guard let text, let number = Int(text), range.contains(number) else {
      throw Problem(text: "\(option) needs a number from \(range.lowerBound). \(usage)")
    }
    return number
  }
}
