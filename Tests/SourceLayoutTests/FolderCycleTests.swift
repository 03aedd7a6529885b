import Foundation
import Testing

/// The folders of a module, and which of them use types of which others.
private struct FolderGraph {
  // Without the rule, a reader of one folder has to know all others: 13 of 16 folders of
  // ReplayCommands were one cycle, and a few files caused it. A file that several folders need
  // moves to the lowest of them. A function that causes the use moves to the type that it is about,
  // or receives a value or a closure. There are no exceptions.

  /// A file and the name of a type of another folder.
  typealias Use = (file: String, name: String)

  private(set) var uses: [String: [String: [Use]]] = [:]

  /// Creates the graph of the files with these paths from the module's root.
  init(_ files: [(path: String, text: String)]) {
    let words = files.map { ($0.path, SwiftWords($0.text)) }
    var homes: [String: Set<String>] = [:]
    for (path, words) in words {
      for name in words.declared { homes[name, default: []].insert(Self.folder(of: path)) }
    }
    for (path, words) in words {
      let folder = Self.folder(of: path)
      for name in words.used.sorted() {
        guard let home = homes[name], home.count == 1, let other = home.first, other != folder
        else { continue }
        uses[folder, default: [:]][other, default: []].append((path, name))
      }
    }
  }

  private static func folder(of path: String) -> String {
    path.contains("/") ? (path as NSString).deletingLastPathComponent : "."
  }

  /// The groups of folders that use each other, directly or through others.
  var cycles: [Set<String>] {
    let reachable = Dictionary(
      uniqueKeysWithValues: uses.keys.map { ($0, self.reachable(from: $0)) })
    let groups = reachable.filter { $0.value.contains($0.key) }.map { folder, others in
      others.filter { reachable[$0]?.contains(folder) == true }
    }
    return Set(groups).sorted { $0.sorted().lexicographicallyPrecedes($1.sorted()) }
  }

  private func reachable(from folder: String) -> Set<String> {
    var (found, open) = (Set<String>(), [folder])
    while let next = open.popLast() {
      for other in uses[next, default: [:]].keys where found.insert(other).inserted {
        open.append(other)
      }
    }
    return found
  }

  /// Returns a line for each use within a cycle.
  func report(_ cycle: Set<String>) -> String {
    cycle.sorted().flatMap { folder in
      uses[folder, default: [:]].filter { cycle.contains($0.key) }.sorted { $0.key < $1.key }
        .flatMap { other, uses in
          uses.map { "\(folder) → \(other): \($0.file) uses \($0.name)" }
        }
    }.joined(separator: "\n")
  }
}

@Suite("The folders of a module")
struct FolderCycleTests {
  private let tree = SourceTree()

  @Test("no folder uses a folder that uses it")
  func cycles() throws {
    let sources = try FileManager.default.contentsOfDirectory(
      atPath: tree.root.appending(path: "Sources").path)
    let modules = sources.sorted().map { "Sources/" + $0 } + ["Tools/ReplayCommands"]
    #expect(modules.count > 12)
    for module in modules {
      let files = try tree.swiftFiles(below: module).map { path in
        (path: String(path.dropFirst(module.count + 1)), text: try tree.text(of: path))
      }
      let graph = FolderGraph(files)
      for cycle in graph.cycles {
        Issue.record("Folders of \(module) use each other:\n\(graph.report(cycle))")
      }
    }
  }

  @Test("the search for cycles finds a use in any code, and none in comments and texts")
  func found() {
    let one = """
      /// Not a use: Three.
      package struct One {
        struct Inner {}
        let text = "Three \\(Two.name("x")) Three", raw = #"Three \\(Three)"#
        /* Three */ let inner: Inner
      }
      private enum Hidden {}
      """
    let two = "public final class Two { let part: any Part; typealias Own = Hidden.Three }"
    let three = "protocol Part {}\nstruct Three { let long = \"\"\"\n Two\n \"\"\" }"
    let words = SwiftWords(one)
    #expect(words.declared == ["One"])
    #expect(words.used == ["Two"])
    var files = [(path: "A/One.swift", text: one), ("B/Two.swift", two), ("Three.swift", three)]
    #expect(FolderGraph(files).cycles.isEmpty)
    files.append(("Four.swift", "extension Three { func two() -> Two? { nil } }"))
    files.append(("C/Five.swift", "struct Five { let one: One }"))
    let graph = FolderGraph(files)
    #expect(graph.cycles == [[".", "B"]])
    #expect(
      graph.report([".", "B"]) == ". → B: Four.swift uses Two\nB → .: B/Two.swift uses Part")
  }
}
