import Foundation
import Testing

@testable import ReplayCommands
@testable import SessionExplain

/// Looks for pieces of secret values in output.
///
/// Does not know how records are redacted. A name is every text in the facts of the
/// journal's lines that is neither a word of a table nor a time.
enum Leak {
  /// Keys whose texts are words of tables, or times.
  private static let plain: Set = [
    "method", "trigger", "reason", "kind", "outcome", "cause", "item", "operation",
    "issuedAt", "expiresAt", "retryAt", "deadline", "since",
  ]

  /// Every piece of the source's names in `text`, including the payloads of unknown kinds.
  static func search(_ text: String, source: String, isLines: Bool = true) throws -> [String] {
    let revealed = ToolRun.inProcess(["export", "--reveal", source])
    var secrets: Set<[UInt8]> = []
    var kept: [String] = []
    for line in try revealed.objects() {
      if let id = line["journal"] as? String { secrets.formUnion(pieces(id)) }
      if let payload = line["payload"] as? String, line["class"] as? String == "unknown" {
        secrets.formUnion(pieces(payload))
      }
      if let facts = line["facts"] { collect(facts, "", &secrets, &kept) }
    }
    let words = Set((vocabulary + kept).flatMap { pieces($0) })
    secrets.subtract(words)
    secrets = secrets.filter { piece in !piece.allSatisfy { (0x2D...0x3A).contains($0) } }
    var told = [text]
    for line in isLines ? text.split(separator: "\n") : [] {
      let object = try JSONSerialization.jsonObject(with: Data(line.utf8))
      strings(object, &told)
    }
    return told.flatMap { pieces($0) }.filter { secrets.contains($0) }
      .map { String(decoding: $0, as: UTF8.self) }
  }

  /// Words that are in every export.
  private static let vocabulary: [String] =
    Pseudonyms.Category.allCases.map(\.rawValue) + [
      "journal", "school", "permissions", "unknown", "generation", "snapshot", "ending", "header",
      "materials", "request", "requests", "sequence",
    ]

  private static func collect(
    _ value: Any, _ key: String, _ secrets: inout Set<[UInt8]>, _ kept: inout [String]
  ) {
    switch value {
    case let object as [String: Any]:
      for (key, value) in object { collect(value, key, &secrets, &kept) }
    case let array as [Any]:
      for value in array { collect(value, key, &secrets, &kept) }
    case let text as String:
      if plain.contains(key) { return }
      // These do not identify a person, and they help to find a bug.
      if key == "app" { return kept.append(text) }
      // A server's error code is kept if the current rules accept it.
      if key == "serverCode", text.first?.isUppercase == true || text == "invalid_grant" {
        kept.append(text)
      } else {
        secrets.formUnion(pieces(text))
      }
    default: break
    }
  }

  private static func strings(_ value: Any, _ found: inout [String]) {
    switch value {
    case let object as [String: Any]: for value in object.values { strings(value, &found) }
    case let array as [Any]: for value in array { strings(value, &found) }
    case let text as String: found.append(text)
    default: break
    }
  }

  /// The letters of pseudonyms, which a piece of a name may have by chance.
  private static let letters = Set("0123456789abcdefghjkmnpqrstvwxyz-".utf8)

  /// All pieces of 6 bytes; of 8 bytes if a pseudonym could contain them by chance.
  private static func pieces(_ text: String) -> Set<[UInt8]> {
    let bytes = Array(text.utf8)
    var pieces: Set<[UInt8]> = []
    for start in bytes.indices {
      let piece = bytes[start...].prefix(6)
      guard piece.count == 6 else { break }
      if piece.allSatisfy(letters.contains) {
        if start + 8 <= bytes.count { pieces.insert(Array(bytes[start..<(start + 8)])) }
      } else {
        pieces.insert(Array(piece))
      }
    }
    return pieces
  }
}
