import Foundation
import SessionKit

/// A page of a sign-in, reduced to its title, its form and its links.
package struct WebPage: Hashable, Sendable {
  /// A form that is posted with its hidden fields and the user's input.
  package struct Form: Hashable, Sendable {
    package var action: String
    package var hidden = WebForm()

    package init(action: String, hidden: WebForm = WebForm()) {
      (self.action, self.hidden) = (action, hidden)
    }
  }

  package var title: String
  package var form: Form?
  /// The addresses of the links by id, such as `forgot` and `cancel`.
  package var links: [String: String]

  package init(title: String, form: Form? = nil, links: [String: String] = [:]) {
    (self.title, self.form, self.links) = (title, form, links)
  }

  /// The page as HTML, which a real browser can show.
  package var html: String {
    var lines = [
      "<!doctype html>", #"<html lang="en"><meta charset="utf-8">"#,
      "<title>\(WebPage.escaped(title))</title><h1>\(WebPage.escaped(title))</h1>",
    ]
    if let form {
      lines.append(#"<form method="post" action="\#(WebPage.escaped(form.action))">"#)
      for field in form.hidden.fields {
        let (name, value) = (WebPage.escaped(field.name), WebPage.escaped(field.value))
        lines.append(#"<input type="hidden" name="\#(name)" value="\#(value)">"#)
      }
      lines += [
        #"<p><label>User name <input id="username" name="username"></label>"#,
        #"<p><label>Password <input id="password" name="password" type="password"></label>"#,
        #"<p><button id="submit">Sign in</button></form>"#,
      ]
    }
    for (id, address) in links.sorted(by: { $0.key < $1.key }) {
      lines.append(#"<p><a id="\#(id)" href="\#(WebPage.escaped(address))">\#(id)</a>"#)
    }
    return lines.joined(separator: "\n")
  }

  /// Parses a page; only the elements that a sign-in needs are known.
  package init(html: String) {
    self.init(title: "")
    if let title = html.firstMatch(of: /<title>([^<]*)<\/title>/) {
      self.title = WebPage.unescaped(title.1)
    }
    for tag in html.matches(of: /<(form|input|a) ([^>]*)>/) {
      var marks: [String: String] = [:]
      for mark in tag.2.matches(of: /([a-z]+)="([^"]*)"/) {
        marks[String(mark.1)] = WebPage.unescaped(mark.2)
      }
      switch tag.1 {
      case "form": form = Form(action: marks["action"] ?? "")
      case "input" where marks["type"] == "hidden":
        let hidden = form?.hidden.adding(marks["name"] ?? "", marks["value"] ?? "")
        form?.hidden = hidden ?? WebForm()
      case "a": if let id = marks["id"] { links[id] = marks["href"] }
      default: break
      }
    }
  }

  private static func escaped(_ text: String) -> String {
    text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
      .replacing("\"", with: "&quot;")
  }

  private static func unescaped(_ text: Substring) -> String {
    String(text).replacing("&quot;", with: "\"").replacing("&gt;", with: ">").replacing(
      "&lt;", with: "<"
    )
    .replacing("&amp;", with: "&")
  }
}

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
