/// An answer of the backend, before faults are applied and before it becomes HTTP.
package struct BackendAnswer: Sendable, Equatable {
  package var status: Int
  package var body: WireValue?
  package var fields: [HTTPField]
  /// The `code` of an error body.
  package var code: String?
  /// The rule of the protocol that the client broke, if any.
  package var violation: LoopbackCall.Violation?

  package init(
    status: Int, body: WireValue? = nil, fields: [HTTPField] = [], code: String? = nil,
    violation: LoopbackCall.Violation? = nil
  ) {
    (self.status, self.body, self.fields) = (status, body, fields)
    (self.code, self.violation) = (code, violation)
  }

  package static func success(_ body: WireValue) -> BackendAnswer {
    BackendAnswer(status: 200, body: body)
  }

  static func failure(_ status: Int, _ code: String, _ message: String) -> BackendAnswer {
    BackendAnswer(
      status: status,
      body: ["error": ["code": .string(code), "message": .string(message)]], code: code)
  }

  package var response: SentResponse {
    guard let body else { return SentResponse(status: status, fields: fields) }
    let type = HTTPField("Content-Type", "application/json; charset=utf-8")
    return SentResponse(status: status, fields: fields + [type], body: body.bytes)
  }
}
