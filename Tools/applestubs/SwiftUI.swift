// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

// What the examples of articles use of SwiftUI; no source of the library does.

@MainActor @preconcurrency
public protocol View {
  associatedtype Body: View
  @ViewBuilder var body: Body { get }
}

extension Never: View {
  public var body: Never { self }
}

@resultBuilder
public enum ViewBuilder {
  public static func buildBlock() -> EmptyView { EmptyView() }
  public static func buildBlock<Content: View>(_ content: Content) -> Content { content }
  public static func buildBlock<each Content: View>(
    _ content: repeat each Content
  ) -> TupleView<(repeat each Content)> {
    TupleView((repeat each content))
  }
  public static func buildEither<First: View, Second: View>(
    first: First
  ) -> ConditionalContent<First, Second> {
    .first(first)
  }
  public static func buildEither<First: View, Second: View>(
    second: Second
  ) -> ConditionalContent<First, Second> {
    .second(second)
  }
  public static func buildIf<Content: View>(_ content: Content?) -> Content? { content }
}

public struct EmptyView: View {
  public nonisolated init() {}
  public var body: Never { fatalBody() }
}

public struct TupleView<Content>: View {
  public nonisolated init(_ content: Content) {}
  public var body: Never { fatalBody() }
}

public enum ConditionalContent<First: View, Second: View>: View {
  case first(First)
  case second(Second)
  public var body: Never { fatalBody() }
}

extension Optional: View where Wrapped: View {
  public var body: Never { fatalBody() }
}

public struct Text: View {
  public nonisolated init<S: StringProtocol>(_ content: S) {}
  public var body: Never { fatalBody() }
}

public struct Button<Label: View>: View {
  public var body: Never { fatalBody() }
}

extension Button where Label == Text {
  public nonisolated init<S: StringProtocol>(_ title: S, action: @escaping @MainActor () -> Void) {}
}

public struct VStack<Content: View>: View {
  public nonisolated init(@ViewBuilder content: () -> Content) {}
  public var body: Never { fatalBody() }
}

@propertyWrapper
public struct State<Value> {
  public var wrappedValue: Value {
    get { fatalBody() }
    nonmutating set { fatalBody() }
  }
  public init(wrappedValue: Value) {}
}

extension View {
  public nonisolated func task(
    priority: TaskPriority = .userInitiated,
    _ action: @escaping @isolated(any) @Sendable () async -> Void
  ) -> some View {
    self
  }
}

/// Nothing of a stub runs.
private func fatalBody() -> Never {
  while true {}
}
