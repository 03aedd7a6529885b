import Foundation
import SessionCore
import Testing

@testable import ReplayCommands

@Suite("Specs/WhatIf.md")
struct WhatIfPageTests {
  /// The first cells of the table whose head begins with this cell.
  private func column(_ head: String) throws -> [String] {
    let lines = try Repository.text("Specs/WhatIf.md").components(separatedBy: "\n")
    let start = try #require(lines.firstIndex { $0.hasPrefix("| \(head) |") })
    return lines[start...].dropFirst(2).prefix { $0.hasPrefix("| ") }.flatMap { line in
      line.split(separator: "|")[0].split(separator: ",")
        .map { $0.trimmingCharacters(in: .whitespaces) }
    }
  }

  @Test("RPL-10 the page has a row for each proof that the code knows, and no other")
  func proofs() throws {
    #expect(try column("proof") == InputScript.Proof.allCases.map(\.rawValue))
  }

  @Test("RPL-10 the page has a row for each reason why a batch is not decided, and no other")
  func gaps() throws {
    #expect(try column("why") == DecisionReplay.Gap.allCases.map(\.rawValue))
  }

  @Test("RPL-10 the page has a row for each ending of an answer, and no other")
  func endings() throws {
    let gaps = DecisionReplay.Gap.allCases.map(WhatIfRun.Ending.gap)
    let others: [WhatIfRun.Ending] = [
      .same, .unreadable, .decides([], due: nil), .nothing(due: nil),
      .earlier(.refresh, .init(milliseconds: 0)), .more([]),
      .uses(since: .init(milliseconds: 0), limit: 0), .unproven(.attempts), .version,
    ]
    #expect(Set(try column("ending")) == Set((gaps + others).map(\.word)))
  }

  @Test("RPL-10 the page, the help and the code have the same words of --policy")
  func words() throws {
    let keys = PolicyChange.Key.allCases.map(\.rawValue)
    #expect(try column("word") == keys)
    let help = ToolRun.inProcess(["whatif", "--help"]).output
    for word in keys + PolicyChange.Preset.allCases.map(\.rawValue) {
      #expect(help.contains(word), "\(word)")
    }
  }

  @Test("RPL-10 each public preset of the page of policies can be named")
  func presets() throws {
    let page = try Repository.text("Specs/Policy.md")
    let names = page.matches(of: /\n\| `([a-zA-Z]+)` \| [0-9]+ s/).map { String($0.1) }
    #expect(names.count == 5)
    #expect(Set(names) == Set(PolicyChange.Preset.allCases.map(\.rawValue)))
  }
}
