import Foundation
import Testing

/// Raw values in journals, stored items and output must not follow a renamed case.
@Suite("Raw values")
struct RawValueTests {
  private let tree = SourceTree()

  private static let folders = [
    "Sources/SessionCore", "Sources/SessionChangeQueue", "Sources/SessionJournal",
    "Sources/SessionKit", "Sources/SessionExplain", "Tools/ReplayCommands/Arguments",
    "Tools/ReplayCommands/Commands", "Tools/ReplayCommands/Journal", "Tools/ReplayCommands/Output",
    "Tools/ReplayCommands/Pure/Export", "Tools/ReplayCommands/Words",
  ]

  /// The enums in a source with a case that has a raw value and does not spell it.
  ///
  /// Keys of `Codable` types are left out: `Specs/Frozen/names` has them as members of stored items.
  static func implicit(in source: String) -> [String] {
    let head =
      /^( *)(?:(?:public|package|private|fileprivate) )?enum (\w+): (String|U?Int\d*)\b(.*)/
    var around: (indent: Int, name: String)?
    var found: [String] = []
    for line in source.split(separator: "\n") {
      if let match = line.firstMatch(of: head), !match.4.contains("CodingKey") {
        around = (match.1.count, String(match.2))
      } else if let open = around {
        let text = line.drop { $0 == " " }
        let indent = line.count - text.count
        if indent <= open.indent, text.hasPrefix("}") { around = nil }
        guard indent == open.indent + 2, text.hasPrefix("case "), !text.contains(" = ") else {
          continue
        }
        found.append(open.name)
      }
    }
    return Array(Set(found)).sorted()
  }

  @Test("JRN-3 RPL-5 each case with a raw value spells it", arguments: folders)
  func spelled(folder: String) throws {
    let files = try tree.swiftFiles(below: folder)
    #expect(!files.isEmpty)
    for file in files {
      let found = Self.implicit(in: try tree.text(of: file))
      #expect(found.isEmpty, "\(file): \(found) would change with a case's name")
    }
  }

  @Test("the search for implicit raw values finds them, and only them")
  func search() {
    let source = """
      package enum Spelled: String, CaseIterable {
        case one = "one"
        var isOne: Bool {
          switch self {
          case .one: true
          }
        }
      }
      struct Outer {
        enum Implicit: UInt8 {
          case first = 1
          case second
        }
        enum Keys: String, CodingKey {
          case name
        }
        enum Plain: Error {
          case none
        }
      }
      """
    #expect(Self.implicit(in: source) == ["Implicit"])
  }
}
