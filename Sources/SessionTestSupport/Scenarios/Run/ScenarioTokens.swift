import SessionJSON
import SessionKit
import SessionTestKit

/// The values of the tokens' names, and the secrets that must be in no file and no text.
struct ScenarioTokens {
  private var values: [String: String] = [:]
  private var vault = SecretVault()
  private var random = ByteStream(seed: 0x5CE7)

  /// Adds the user's password, and the name if it is an e-mail address, to the secrets.
  mutating func keep(_ user: (name: String, password: String)) {
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
      case .name(let name): values[name.name] ?? make(name, at: now)
      }
    }.joined()
  }

  /// Fills a text of a request: each name is replaced by its value.
  func fill(_ text: String) -> String {
    ScenarioName.pieces(of: text).map { piece in
      switch piece {
      case .text(let text): text
      case .name(let name): values[name.name] ?? "<\(name.name)>"
      }
    }.joined()
  }

  /// Fills a text about a change: a name that is new gets a UUID; a key is not secret.
  mutating func key(_ text: String) -> String {
    for case .name(let name) in ScenarioName.pieces(of: text) where values[name.name] == nil {
      values[name.name] = random.uuid()
    }
    return fill(text)
  }

  /// Returns whether this name has a value.
  func knows(_ name: ScenarioName) -> Bool { values[name.name] != nil }

  /// Gives a name a value that arrived in a request.
  mutating func take(_ value: String, as name: ScenarioName) { keep(value, as: name.name) }

  /// Adds a secret.
  mutating func learn(_ secret: String) { vault.learn([secret]) }

  private mutating func make(_ name: ScenarioName, at now: Int64) -> String {
    guard let form = name.claims else {
      let value = "\(name.name)~" + LoopbackToken.base64URL(random.take(24))
      keep(value, as: name.name)
      return value
    }
    var claims: [String: JSONValue] = [:]
    for field in form.fields {
      claims[field.name] = JSONNumber(field.value).map { .number($0) } ?? .string(field.value)
    }
    return make(name.name, life: form.life, claims: claims, at: now)
  }

  /// Makes a token of three parts with these claims.
  @discardableResult
  mutating func make(_ name: String, life: Int64?, claims: [String: JSONValue], at now: Int64)
    -> String
  {
    var members = claims
    members["jti"] = .string(random.uuid())
    members["iat"] = JSONNumber("\(now / 1000)").map { .number($0) }
    if let life { members["exp"] = JSONNumber("\((now + life) / 1000)").map { .number($0) } }
    let value = LoopbackToken.make(payload: Array(JSONValue.object(members).text.utf8))
    keep(value, as: name)
    return value
  }

  private mutating func keep(_ value: String, as name: String) {
    values[name] = value
    vault.learn([value])
  }
}
