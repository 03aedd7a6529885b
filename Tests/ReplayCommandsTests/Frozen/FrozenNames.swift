import Foundation
import Testing

/// The stable names of one kind: a file of `Specs/Frozen/names`, one name a line.
///
/// A renamed or removed name fails the test. A new one fails it until
/// `FREEZE=1 swift test --filter Frozen` adds it. That never removes a line.
struct FrozenNames {
  static let folder = "Specs/Frozen/names"

  let path: String

  init(_ kind: String) { path = "\(Self.folder)/\(kind).txt" }

  /// Compares the names that the code has with those of the file.
  func compare(
    with names: some Sequence<String>, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let names = Set(names)
    let file = Repository.root.appending(path: path)
    var frozen = Set<String>()
    if FileManager.default.fileExists(atPath: file.path(percentEncoded: false)) {
      frozen = Set(try Repository.text(path).split(separator: "\n").map(String.init))
    }
    if ProcessInfo.processInfo.environment["FREEZE"] != nil, !names.isSubset(of: frozen) {
      frozen.formUnion(names)
      let text = frozen.sorted().map { $0 + "\n" }.joined()
      try text.write(to: file, atomically: true, encoding: .utf8)
    }
    let (gone, new) = (frozen.subtracting(names).sorted(), names.subtracting(frozen).sorted())
    #expect(gone.isEmpty, "\(path): these names are stable", sourceLocation: sourceLocation)
    #expect(new.isEmpty, "\(path) lacks these names", sourceLocation: sourceLocation)
  }
}

/// The paths of members in a JSON value: `facts.token.id`, `changes[].field`.
struct MemberPaths {
  private(set) var paths: Set<String> = []

  /// Adds the paths in one value of JSON, each after `prefix`.
  mutating func add(_ json: Data, after prefix: String) throws {
    add(try JSONSerialization.jsonObject(with: json, options: .fragmentsAllowed), prefix)
  }

  private mutating func add(_ value: Any, _ path: String) {
    switch value {
    case let object as [String: Any]:
      if object.isEmpty { paths.insert(path) }
      for (name, member) in object {
        add(member, path.hasSuffix(" ") ? path + name : "\(path).\(name)")
      }
    case let array as [Any]:
      if array.isEmpty { paths.insert(path + "[]") }
      for element in array { add(element, path + "[]") }
    default:
      paths.insert(path)
    }
  }
}
