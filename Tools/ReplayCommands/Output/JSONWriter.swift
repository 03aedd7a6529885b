internal import SessionCore

/// Writes JSON (RFC 8259) in the order in which it is told to.
struct JSONWriter {
  private(set) var text = ""
  private var needsComma = false

  mutating func object(_ body: (inout JSONWriter) -> Void) {
    separate()
    text += "{"
    needsComma = false
    body(&self)
    text += "}"
    needsComma = true
  }

  mutating func object(_ name: String, _ body: (inout JSONWriter) -> Void) {
    key(name)
    object(body)
  }

  mutating func array<Element>(
    _ name: String, _ elements: some Sequence<Element>,
    _ writeElement: (inout JSONWriter, Element) -> Void
  ) {
    key(name)
    text += "["
    needsComma = false
    for element in elements { writeElement(&self, element) }
    text += "]"
    needsComma = true
  }

  mutating func field(_ name: String, _ value: String?) {
    key(name)
    if let value { self.value(value) } else { null() }
  }

  mutating func field(_ name: String, _ value: Bool) {
    key(name)
    bare(value ? "true" : "false")
  }

  mutating func field(_ name: String, _ value: (some FixedWidthInteger)?) {
    key(name)
    if let value { self.value(value) } else { null() }
  }

  mutating func field(_ name: String, _ value: Timestamp?) {
    field(name, value?.description)
  }

  mutating func null(_ name: String) {
    key(name)
    null()
  }

  mutating func value(_ value: some FixedWidthInteger) {
    bare(String(value))
  }

  mutating func value(_ value: String) {
    separate()
    quote(value)
    needsComma = true
  }

  private mutating func null() {
    bare("null")
  }

  private mutating func bare(_ word: String) {
    separate()
    text += word
    needsComma = true
  }

  private mutating func key(_ name: String) {
    separate()
    quote(name)
    text += ":"
    needsComma = false
  }

  private mutating func separate() {
    if needsComma { text += "," }
  }

  private mutating func quote(_ value: String) {
    text += "\""
    if value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x22 && $0 != 0x5C && $0 < 0x7F }) {
      text += value
    } else {
      for scalar in value.unicodeScalars { escape(scalar) }
    }
    text += "\""
  }

  private mutating func escape(_ scalar: Unicode.Scalar) {
    switch scalar {
    case "\"": text += "\\\""
    case "\\": text += "\\\\"
    case "\n": text += "\\n"
    case "\r": text += "\\r"
    case "\t": text += "\\t"
    // More than JSON demands: some readers split lines at U+2028, terminals obey the others.
    case _ where scalar.isUnprintable:
      let digits = String(scalar.value, radix: 16)
      text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    default: text.unicodeScalars.append(scalar)
    }
  }
}
