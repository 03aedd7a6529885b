/// A pass that looks at fields and changes none.
///
/// It has one method for each kind of field. Kinds that may be absent share the method of those
/// that may not.
@_spi(Internals) public protocol FieldVisitor: FieldPass where Failure == Never {
  /// Visits a code.
  mutating func visit(_ name: FieldName, code: some OpenEnum)
  /// Visits a code that says why.
  mutating func visit(_ name: FieldName, reason: some OpenEnum)
  /// Visits the meaning of a server's code.
  mutating func visit(_ name: FieldName, meaning: ErrorMeaning?)
  /// Visits a number.
  mutating func visit(_ name: FieldName, number: some FixedWidthInteger)
  /// Visits the sequence of another record.
  mutating func visit(_ name: FieldName, sequence: UInt64)
  /// Visits a flag.
  mutating func visit(_ name: FieldName, flag: Bool)
  /// Visits a time.
  mutating func visit(_ name: FieldName, time: Timestamp?)
  /// Visits the number of a token.
  mutating func visit(_ name: FieldName, generation: Generation)
  /// Visits an identifier.
  mutating func visit(_ name: FieldName, _ kind: IdentifierKind, identifier: Identifier?)
  /// Visits the version of an app.
  mutating func visit(_ name: FieldName, version: AppVersion?)
  /// Visits the metadata of a token.
  mutating func visit(_ name: FieldName, token: TokenMetadata?)
  /// Visits a context.
  mutating func visit(_ name: FieldName, context: ActiveContext?)
  /// Visits the failure of a request.
  mutating func visit(_ name: FieldName, failure: RequestFailure)
  /// Visits the identity of an opening.
  mutating func visit(_ name: FieldName, identity: ProcessIdentity?)
}

@_spi(Internals) extension FieldVisitor {
  /// Visits a code and returns it.
  @inlinable
  public mutating func code<Code: OpenEnum>(_ name: FieldName, _ value: Code) -> Code {
    visit(name, code: value)
    return value
  }

  /// Visits a code that says why and returns it.
  @inlinable
  public mutating func reason<Code: OpenEnum>(_ name: FieldName, _ value: Code) -> Code {
    visit(name, reason: value)
    return value
  }

  /// Visits the meaning of a server's code and returns it.
  @inlinable
  public mutating func meaning(_ name: FieldName, _ value: ErrorMeaning?) -> ErrorMeaning? {
    visit(name, meaning: value)
    return value
  }

  /// Visits a number and returns it.
  @inlinable
  public mutating func number<Number: FixedWidthInteger>(
    _ name: FieldName, _ value: Number
  ) -> Number {
    visit(name, number: value)
    return value
  }

  /// Visits the sequence of another record and returns it.
  @inlinable
  public mutating func sequence(_ name: FieldName, _ value: UInt64) -> UInt64 {
    visit(name, sequence: value)
    return value
  }

  /// Visits a flag and returns it.
  @inlinable
  public mutating func flag(_ name: FieldName, _ value: Bool) -> Bool {
    visit(name, flag: value)
    return value
  }

  /// Visits a time and returns it.
  @inlinable
  public mutating func time(_ name: FieldName, _ value: Timestamp) -> Timestamp {
    visit(name, time: value)
    return value
  }

  /// Visits a time and returns it.
  @inlinable
  public mutating func time(_ name: FieldName, _ value: Timestamp?) -> Timestamp? {
    visit(name, time: value)
    return value
  }

  /// Visits the number of a token and returns it.
  @inlinable
  public mutating func generation(_ name: FieldName, _ value: Generation) -> Generation {
    visit(name, generation: value)
    return value
  }

  /// Visits an identifier and returns it.
  @inlinable
  public mutating func identifier(
    _ name: FieldName, _ kind: IdentifierKind, _ value: Identifier
  ) -> Identifier {
    visit(name, kind, identifier: value)
    return value
  }

  /// Visits an identifier and returns it.
  @inlinable
  public mutating func identifier(
    _ name: FieldName, _ kind: IdentifierKind, _ value: Identifier?
  ) -> Identifier? {
    visit(name, kind, identifier: value)
    return value
  }

  /// Visits the version of an app and returns it.
  @inlinable
  public mutating func version(_ name: FieldName, _ value: AppVersion?) -> AppVersion? {
    visit(name, version: value)
    return value
  }

  /// Visits the metadata of a token and returns it.
  @inlinable
  public mutating func token(_ name: FieldName, _ value: TokenMetadata) -> TokenMetadata {
    visit(name, token: value)
    return value
  }

  /// Visits the metadata of a token and returns it.
  @inlinable
  public mutating func token(_ name: FieldName, _ value: TokenMetadata?) -> TokenMetadata? {
    visit(name, token: value)
    return value
  }

  /// Visits a context and returns it.
  @inlinable
  public mutating func context(_ name: FieldName, _ value: ActiveContext) -> ActiveContext {
    visit(name, context: value)
    return value
  }

  /// Visits a context and returns it.
  @inlinable
  public mutating func context(_ name: FieldName, _ value: ActiveContext?) -> ActiveContext? {
    visit(name, context: value)
    return value
  }

  /// Visits the failure of a request and returns it.
  @inlinable
  public mutating func failure(_ name: FieldName, _ value: RequestFailure) -> RequestFailure {
    visit(name, failure: value)
    return value
  }

  /// Visits the identity of an opening and returns it.
  @inlinable
  public mutating func identity(
    _ name: FieldName, _ value: ProcessIdentity?
  ) -> ProcessIdentity? {
    visit(name, identity: value)
    return value
  }
}

/// A visitor that looks for some kinds of fields and ignores the others.
package protocol FieldSearch: FieldVisitor {}

extension FieldSearch {
  package func visit(_ name: FieldName, code: some OpenEnum) {}
  package func visit(_ name: FieldName, reason: some OpenEnum) {}
  package func visit(_ name: FieldName, meaning: ErrorMeaning?) {}
  package func visit(_ name: FieldName, number: some FixedWidthInteger) {}
  package func visit(_ name: FieldName, sequence: UInt64) {}
  package func visit(_ name: FieldName, flag: Bool) {}
  package func visit(_ name: FieldName, time: Timestamp?) {}
  package func visit(_ name: FieldName, generation: Generation) {}
  package func visit(_ name: FieldName, _ kind: IdentifierKind, identifier: Identifier?) {}
  package func visit(_ name: FieldName, version: AppVersion?) {}
  package func visit(_ name: FieldName, token: TokenMetadata?) {}
  package func visit(_ name: FieldName, context: ActiveContext?) {}
  package func visit(_ name: FieldName, failure: RequestFailure) {}
  package func visit(_ name: FieldName, identity: ProcessIdentity?) {}
}
