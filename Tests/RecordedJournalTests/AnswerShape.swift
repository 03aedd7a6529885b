import Foundation
import Testing

/// The part of an answer that is the same in each run of its story: no times, no process numbers.
struct AnswerShape: Equatable {
  let cause: String
  let certainty: String
  let chain: [String]
  let findings: [String]
  let rest: [String]

  init(_ json: String) throws {
    let object = try #require(
      try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
    cause = try #require(object["cause"] as? String)
    certainty = try #require(object["certainty"] as? String)
    func list(_ name: String) throws -> [[String: Any]] {
      try #require(object[name] as? [[String: Any]])
    }
    chain = try list("chain").map { "\($0["sequence"] ?? 0) \($0["name"] ?? "")" }
    findings = try ["proven", "inferred", "ruledOut", "alsoSeen"].flatMap { name in
      try list(name).map { "\(name) \($0["what"] ?? "") \($0["certainty"] ?? "")" }
    }
    rest = try ["untold", "advice"].flatMap { name in
      try list(name).map { "\(name) \($0["what"] ?? "")" }
    }
  }
}
