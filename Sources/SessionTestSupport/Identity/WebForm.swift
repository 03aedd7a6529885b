import Foundation
import SessionKit

/// The fields of a form, in order: a query, a fragment, or a body of
/// `application/x-www-form-urlencoded`.
package struct WebForm: Hashable, Sendable {
  /// One field.
  package struct Field: Hashable, Sendable {
    package let name: String
    package let value: String
  }

  package var fields: [Field]

  package init(_ pairs: KeyValuePairs<String, String> = [:]) {
    fields = pairs.map { Field(name: $0.key, value: $0.value) }
  }

  /// Parses fields; a name or value with an invalid escape stays as it was sent.
  package init(_ bytes: some Sequence<UInt8>) {
    fields = String(decoding: Array(bytes), as: UTF8.self).split(separator: "&").map { pair in
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        .map { part in
          let spaced = part.replacing("+", with: " ")
          return spaced.removingPercentEncoding ?? String(spaced)
        }
      return Field(name: parts[0], value: parts.count > 1 ? parts[1] : "")
    }
  }

  /// Parses fields.
  package init(_ text: String) { self.init(text.utf8) }

  /// Returns the first value with this name.
  package subscript(name: String) -> String? { fields.first { $0.name == name }?.value }

  /// Returns the form with one more field; unchanged if `value` is `nil`.
  package func adding(_ name: String, _ value: String?) -> WebForm {
    guard let value else { return self }
    var form = self
    form.fields.append(Field(name: name, value: value))
    return form
  }

  /// The fields, encoded for a request.
  package var text: String {
    fields.map { "\(FormEncoding.encode($0.name))=\(FormEncoding.encode($0.value))" }
      .joined(separator: "&")
  }
}

// Fields can contain codes and passwords.
extension WebForm: CustomStringConvertible, CustomReflectable {
  package var description: String { "a form of \(fields.count) fields" }
  package var customMirror: Mirror { Mirror(self, children: ["form": description]) }
}
