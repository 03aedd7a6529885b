import Foundation
import SessionExplain
import Testing

@testable import ReplayCommands

/// The page about a fleet, compared with the queries that `Tools/fleet/run` answers and checks.
@Suite("Specs/Fleet.md")
struct FleetPageTests {
  private let root = Repository.root

  @Test("SCL-3 the page lists each query, and the script checks the answer to each")
  func queries() throws {
    let folder = root.appending(path: "Tools/fleet/queries").path(percentEncoded: false)
    let files = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    #expect(files.count == 5)
    let page = try Repository.text("Specs/Fleet.md").split(separator: "\n")
    let listed = page.compactMap { $0.firstMatch(of: #/^\| .* \| `(\d-.*\.sql)` \|$/#)?.1 }
    #expect(listed.map(String.init) == files)
    let checked = try Repository.text("Tools/fleet/truth.py")
      .matches(of: #/\("(\d-[a-z0-9-]+)", \w+, /#).map { "\($0.1).sql" }
    #expect(checked == files)
  }

  @Test("SCL-3 a query leaves out damaged journals, and its first line is a question")
  func forms() throws {
    let folder = root.appending(path: "Tools/fleet/queries").path(percentEncoded: false)
    for file in try FileManager.default.contentsOfDirectory(atPath: folder) {
      let text = try Repository.text("Tools/fleet/queries/\(file)")
      #expect(text.contains("NOT damaged"), "\(file)")
      #expect(text.prefix { $0 != "\n" }.wholeMatch(of: /-- .*\?.*/) != nil, "\(file)")
    }
  }

  @Test("SCL-3 the query about unexpected ends leaves out the causes that a report calls expected")
  func unexpected() throws {
    let text = try Repository.text("Tools/fleet/queries/4-users-with-many-ends.sql")
    let list = try #require(text.firstMatch(of: /NOT IN \(([^)]*)\)/)?.1)
    let expected = EndClass.allCases.filter { !$0.isUnexpected }.flatMap(\.causes).map(\.id)
    #expect(list.matches(of: /'([a-z-]+)'/).map { String($0.1) } == expected.sorted())
  }

  @Test("SCL-3 CI answers the questions about a small fleet")
  func ci() throws {
    #expect(try Repository.text(".ci/nightly").contains("\nTools/fleet/run "))
  }
}
