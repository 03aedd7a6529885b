/// One pass over the fields of an event or a note, with a method for each kind of field.
///
/// `rebuilt(by:)` lists the fields once. It offers each field to a pass and builds the same event
/// or note from what the pass returns. So one list serves three purposes:
///
/// - A ``FieldVisitor`` looks at the fields and returns them unchanged, for example as JSON.
/// - A redaction returns other values.
/// - A reader or a generator ignores the values that it is given. It begins with a blank event or
///   note and returns what it has read or drawn.
///
/// The fields come in the order of the payload, so that a reader can write one while it reads.
///
/// The methods have no default. So a new kind of field does not compile until each pass handles it;
/// redaction is one of them. A test compares the lists with the stored properties. The byte codec and
/// the payload fold spell the fields out again: they are on the hot path, and they check each other.
@_spi(Internals) public protocol FieldPass {
  // Without one list, a new note with a field had to be written into 25 files, and in some a
  // forgotten field was no error. Rejected: an array of values (it allocates for each record, and a
  // wrong type is found at run time only), key paths (they create no record), and reflection (it
  // knows no kinds, and is slow).

  /// The error that ends the pass.
  associatedtype Failure: Error

  /// A code of the journal's vocabulary.
  mutating func code<Code: OpenEnum>(_ name: FieldName, _ value: Code) throws(Failure) -> Code
  /// A code that says why something happened: a reason, a cause or an outcome.
  mutating func reason<Code: OpenEnum>(_ name: FieldName, _ value: Code) throws(Failure) -> Code
  /// The meaning of a server's code; a record without one has no such field.
  mutating func meaning(
    _ name: FieldName, _ value: ErrorMeaning?
  ) throws(Failure) -> ErrorMeaning?
  /// A count or another number.
  mutating func number<Number: FixedWidthInteger>(
    _ name: FieldName, _ value: Number
  ) throws(Failure) -> Number
  /// The sequence of another record of the same journal; 0 for none.
  mutating func sequence(_ name: FieldName, _ value: UInt64) throws(Failure) -> UInt64
  /// A fact that holds or does not hold.
  mutating func flag(_ name: FieldName, _ value: Bool) throws(Failure) -> Bool
  /// A time.
  mutating func time(_ name: FieldName, _ value: Timestamp) throws(Failure) -> Timestamp
  /// A time that may be absent.
  mutating func time(_ name: FieldName, _ value: Timestamp?) throws(Failure) -> Timestamp?
  /// The number of a token.
  mutating func generation(_ name: FieldName, _ value: Generation) throws(Failure) -> Generation
  /// An identifier; its kind says what it identifies.
  mutating func identifier(
    _ name: FieldName, _ kind: IdentifierKind, _ value: Identifier
  ) throws(Failure) -> Identifier
  /// An identifier that may be absent.
  mutating func identifier(
    _ name: FieldName, _ kind: IdentifierKind, _ value: Identifier?
  ) throws(Failure) -> Identifier?
  /// The version of an app; a record of an older version has no such field.
  mutating func version(_ name: FieldName, _ value: AppVersion?) throws(Failure) -> AppVersion?
  /// The metadata of a token.
  mutating func token(_ name: FieldName, _ value: TokenMetadata) throws(Failure) -> TokenMetadata
  /// The metadata of a token that may be absent.
  mutating func token(
    _ name: FieldName, _ value: TokenMetadata?
  ) throws(Failure) -> TokenMetadata?
  /// A context.
  mutating func context(
    _ name: FieldName, _ value: ActiveContext
  ) throws(Failure) -> ActiveContext
  /// A context that may be absent.
  mutating func context(
    _ name: FieldName, _ value: ActiveContext?
  ) throws(Failure) -> ActiveContext?
  /// The failure of a request.
  mutating func failure(
    _ name: FieldName, _ value: RequestFailure
  ) throws(Failure) -> RequestFailure
  /// The identity of an opening; a record of an older version has no such field.
  mutating func identity(
    _ name: FieldName, _ value: ProcessIdentity?
  ) throws(Failure) -> ProcessIdentity?
  /// The kind of system; a record of an older version has no such field.
  mutating func platform(_ name: FieldName, _ value: Platform?) throws(Failure) -> Platform?
  /// What a server asked for; a record without one has no such field in JSON.
  mutating func demand(
    _ name: FieldName, _ value: AuthenticationDemand?
  ) throws(Failure) -> AuthenticationDemand?
  /// The policy of an opening; a record of an older version has no such field.
  mutating func policy(
    _ name: FieldName, _ value: RecordedPolicy?
  ) throws(Failure) -> RecordedPolicy?
}

/// What a field of the kind *identifier* identifies.
@_spi(Internals) public enum IdentifierKind: CaseIterable, Sendable {
  /// A user.
  case user
  /// A boot of a system.
  case boot
  /// A journal.
  case journal
  /// A key.
  case key
}

/// The name of a field, as `Specs/EventCodec.md` and the JSON forms have it.
@_spi(Internals) public struct FieldName: ExpressibleByStringLiteral, Sendable {
  /// The name of the member in JSON.
  public let member: StaticString
  /// The label of the argument that sets the field; `nil` if the field is the whole payload.
  public let label: StaticString?

  /// Creates the name of a field whose argument has the same label.
  @inlinable
  public init(stringLiteral name: StaticString) { self.init(name, label: name) }

  /// Creates the name of a field.
  @inlinable
  public init(_ member: StaticString, label: StaticString?) {
    self.member = member
    self.label = label
  }

  /// Returns the name of a field that is the whole payload, without a type of its own.
  @inlinable
  public static func payload(_ member: StaticString) -> FieldName { FieldName(member, label: nil) }
}

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
  /// Visits the kind of system.
  mutating func visit(_ name: FieldName, platform: Platform?)
  /// Visits the policy of an opening.
  mutating func visit(_ name: FieldName, policy: RecordedPolicy?)
  /// Visits what a server asked for.
  mutating func visit(_ name: FieldName, demand: AuthenticationDemand?)
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

  /// Visits the kind of system and returns it.
  @inlinable
  public mutating func platform(_ name: FieldName, _ value: Platform?) -> Platform? {
    visit(name, platform: value)
    return value
  }

  /// Visits what a server asked for and returns it.
  @inlinable
  public mutating func demand(
    _ name: FieldName, _ value: AuthenticationDemand?
  ) -> AuthenticationDemand? {
    visit(name, demand: value)
    return value
  }

  /// Visits the policy of an opening and returns it.
  @inlinable
  public mutating func policy(_ name: FieldName, _ value: RecordedPolicy?) -> RecordedPolicy? {
    visit(name, policy: value)
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
  package func visit(_ name: FieldName, platform: Platform?) {}
  package func visit(_ name: FieldName, policy: RecordedPolicy?) {}
  package func visit(_ name: FieldName, demand: AuthenticationDemand?) {}
}
