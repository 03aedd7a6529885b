import SessionJSON
import SessionKit
import SessionTestKit

/// The values of the tokens' names, and the secrets that must be in no file and no text.
struct ScenarioTokens {
  private var values: [String: String] = [:]
  private var vault = SecretVault()
  private var random = ByteStream(seed: 0x5CE7)

  /// Adds the user's password, and the name if it is an e-mail address, to the secrets.
  mutating func keep(_ user: ScenarioUser) {
    vault.learn([user.password] + (user.name.contains("@") ? [user.name] : []))
  }

  mutating func keep(_ secret: String?) {
    vault.learn([secret].compactMap(\.self))
  }

  var secrets: Set<String> { vault.secrets }

  /// Fills a text of an answer: a name that is new gets a value.
  mutating func give(_ text: String, at now: Int64) -> String {
    if text.contains("@") { vault.learn([text]) }
    return ScenarioName.pieces(of: text).map { piece in
      switch piece {
      case .text(let text): text
      case .malformed(let inner): "<\(inner)>"
      case .name(let name): values[name.name] ?? make(name, at: now)
      }
    }.joined()
  }

  /// Fills a text of a request: each name is replaced by its value.
  func fill(_ text: String) -> String {
    ScenarioName.pieces(of: text).map { piece in
      switch piece {
      case .text(let text): text
      case .malformed(let inner): "<\(inner)>"
      case .name(let name): values[name.name] ?? "<\(name.name)>"
      }
    }.joined()
  }

  /// Returns the key with this name, a UUID; it is not secret.
  mutating func key(_ name: String) -> String {
    if let value = values[name] { return value }
    let value = random.uuid()
    values[name] = value
    return value
  }

  /// Returns whether this name has a value.
  func knows(_ name: ScenarioName) -> Bool { values[name.name] != nil }

  /// Gives a name a value that arrived in a request.
  mutating func take(_ value: String, as name: ScenarioName) { keep(value, as: name.name) }

  /// Adds a secret.
  mutating func learn(_ secret: String) { vault.learn([secret]) }

  private mutating func make(_ name: ScenarioName, at now: Int64) -> String {
    let value: String
    switch name.form {
    case nil, .opaque: value = "\(name.name)~" + LoopbackToken.base64URL(random.take(24))
    case .jwt(let life, let claims):
      var members: [String: WireValue] = [
        "jti": .string(random.uuid()), "iat": .int(Int(now / 1000)),
      ]
      if let life { members["exp"] = .int(Int((now + life) / 1000)) }
      for claim in claims {
        members[claim.name] = Int(claim.value).map { .int($0) } ?? .string(claim.value)
      }
      value = LoopbackToken.make(claims: members)
    }
    keep(value, as: name.name)
    return value
  }

  /// Makes a token of three parts with these claims.
  mutating func make(_ name: String, life: Int64?, claims: JSONValue, at now: Int64) {
    guard case .object(var members) = claims else { return }
    members["jti"] = .string(random.uuid())
    members["iat"] = JSONNumber("\(now / 1000)").map { .number($0) }
    if let life { members["exp"] = JSONNumber("\((now + life) / 1000)").map { .number($0) } }
    keep(LoopbackToken.make(payload: Array(JSONValue.object(members).text.utf8)), as: name)
  }

  private mutating func keep(_ value: String, as name: String) {
    values[name] = value
    vault.learn([value])
  }
}
