import Foundation
import SessionKit

/// Fields of a form in their order: a query, a fragment, or a body of
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

  /// Reads fields; of a part that is no UTF-8 or no proper escape the text stays as it was sent.
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

  /// Reads fields.
  package init(_ text: String) { self.init(text.utf8) }

  /// The first value of that name.
  package subscript(name: String) -> String? { fields.first { $0.name == name }?.value }

  /// The same with one field more.
  package func adding(_ name: String, _ value: String?) -> WebForm {
    guard let value else { return self }
    var form = self
    form.fields.append(Field(name: name, value: value))
    return form
  }

  /// The fields as they go over the wire.
  package var text: String {
    fields.map { "\(FormEncoding.encode($0.name))=\(FormEncoding.encode($0.value))" }
      .joined(separator: "&")
  }
}

// Fields carry codes and passwords.
extension WebForm: CustomStringConvertible, CustomReflectable {
  package var description: String { "a form of \(fields.count) fields" }
  package var customMirror: Mirror { Mirror(self, children: ["form": description]) }
}
