@_spi(Internals) import SessionCore
import SessionTestKit
import Testing

/// A property that is wrong in a known way, and the simplest case that shows it.
struct SeededBug: Sendable, CustomTestStringConvertible {
  let name: String
  /// The steps of the only simplest case.
  let minimum: [String]
  let body: @Sendable (Choices) throws -> Void

  var testDescription: String { name }

  private init(
    _ name: String, minimum: [String], _ body: @escaping @Sendable (Choices) throws -> Void
  ) {
    self.name = name
    self.minimum = minimum
    self.body = body
  }

  /// A bug in a list of values that are drawn in sequence.
  private static func inList<Value>(
    _ name: String, of element: Generator<Value>, _ minimum: [String],
    isWrong: @escaping @Sendable ([Value]) -> Bool
  ) -> SeededBug {
    let generator = element.list(0...60, mean: 12)
    return SeededBug(name, minimum: minimum) { choices in
      let values = generator(choices)
      for value in values { choices.step("\(value)") }
      try choices.require(!isWrong(values), "wrong")
    }
  }

  private static let commands = Generator<String>.element(
    of: "wait", "login", "refresh", "switch", "expire", "late refresh", "logout")

  static let all: [SeededBug] = [
    inList("a sum over 1000", of: .integer(in: 0...1_000), ["1", "1000"]) {
      $0.reduce(0, +) > 1_000
    },
    inList("a sum over 1000 of small values", of: .integer(in: 0...400), ["201", "400", "400"]) {
      $0.reduce(0, +) > 1_000
    },
    inList("two equal events apart", of: commands, ["wait", "wait", "wait"]) { events in
      events.indices.contains { one in
        events.indices.contains { $0 > one + 1 && events[$0] == events[one] }
      }
    },
    inList("a pair of sum 200", of: .integer(in: 0...1_000), ["0", "200"]) { values in
      values.indices.contains { one in values[..<one].contains { $0 + values[one] == 200 } }
    },
    inList("two values 3 apart", of: .integer(in: 0...100), ["0", "3"]) { values in
      values.contains { one in values.contains { $0 == one + 3 } }
    },
    inList("login, expire, late refresh", of: commands, ["login", "expire", "late refresh"]) {
      events in
      var wanted = ["login", "expire", "late refresh"]
      for event in events where event == wanted.first { wanted.removeFirst() }
      return wanted.isEmpty
    },
    inList("not sorted", of: .integer(in: -500...500), ["-499", "-500"]) { values in
      zip(values, values.dropFirst()).contains { $0 > $1 }
    },
    inList("three different values", of: .integer(in: 0...9_999), ["0", "1", "2"]) {
      Set($0).count >= 3
    },
    inList("a value over 12345", of: .integer(in: 0...1_000_000), ["12346"]) { values in
      values.contains { $0 > 12_345 }
    },
    SeededBug("a list that begins with its length", minimum: ["0", "50"]) { choices in
      let values = (0..<choices.draw(in: 0...30)).map { _ in choices.draw(in: 0...99) }
      for value in values { choices.step("\(value)") }
      try choices.require(!values.dropFirst().contains { $0 >= 50 }, "wrong")
    },
    SeededBug("events with different payloads", minimum: ["switch 0 7", "logout"]) { choices in
      var events: [String] = []
      while events.count < 40, choices.chance(12, in: 13) {
        choices.span {
          switch choices.draw(below: 4) {
          case 0: events.append("logout")
          case 1: events.append("login \(choices.draw(below: 50))")
          case 2: events.append("switch \(choices.draw(below: 9)) \(choices.draw(below: 9))")
          default: events.append("refresh \(choices.draw(below: 5)) 0 \(choices.draw(below: 5))")
          }
        }
      }
      for event in events { choices.step(event) }
      let start = events.firstIndex { $0.hasPrefix("switch") && $0.hasSuffix("7") }
      try choices.require(!(start.map { events[$0...].contains("logout") } ?? false), "wrong")
    },
    SeededBug("two values that lie far apart", minimum: ["1", "999"]) { choices in
      let values = (0..<40).map { _ in choices.draw(in: 0...999) }
      for value in values where value > 0 { choices.step("\(value)") }
      try choices.require(!(values[0] + values[39] >= 1_000 && values[0] < 990), "wrong")
    },
  ]
}
