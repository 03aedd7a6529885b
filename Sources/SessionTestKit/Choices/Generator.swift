/// A function that makes a value from draws.
///
/// There is no filter, since a generator that throws values away shrinks badly. Make only values
/// that the test needs, or discard the case with `Choices.assume`.
///
/// - Requirement: TST-1
public struct Generator<Value>: Sendable {
  private let make: @Sendable (Choices) -> Value

  /// Creates a generator that calls `make` for each value.
  public init(_ make: @escaping @Sendable (Choices) -> Value) {
    self.make = make
  }

  /// Makes the next value.
  public func callAsFunction(_ choices: Choices) -> Value {
    choices.span { make(choices) }
  }

  /// Returns a generator that applies `transform` to each value.
  public func map<Other>(_ transform: @escaping @Sendable (Value) -> Other) -> Generator<Other> {
    let make = make
    return Generator<Other> { choices in transform(make(choices)) }
  }

  /// Returns a generator whose second draws depend on the first value.
  public func flatMap<Other>(_ next: @escaping @Sendable (Value) -> Generator<Other>)
    -> Generator<Other>
  {
    let make = make
    return Generator<Other> { choices in next(make(choices))(choices) }
  }

  /// Returns a generator of pairs; it makes this generator's value first.
  public func zip<Other>(_ other: Generator<Other>) -> Generator<(Value, Other)> {
    let make = make
    return Generator<(Value, Other)> { choices in (make(choices), other(choices)) }
  }

  /// Returns a generator of lists; the shortest list is the simplest.
  ///
  /// A random list has on average about `mean` elements more than the least count. Each element
  /// forms a span with the draw that asks for it, so that the shrinker can remove any element.
  public func list(_ count: ClosedRange<Int>, mean: Int = 6) -> Generator<[Value]> {
    let element = self
    let weight = UInt64(max(1, mean))
    return Generator<[Value]> { choices in
      var values: [Value] = []
      while values.count < count.upperBound {
        let value: Value? = choices.span {
          let isAsked = values.count < count.lowerBound || choices.chance(weight, in: weight + 1)
          return isAsked ? element(choices) : nil
        }
        guard let value else { break }
        values.append(value)
      }
      return values
    }
  }

  /// Returns a generator of optional values; `nil` is the simplest.
  public func optional() -> Generator<Value?> {
    let make = make
    return Generator<Value?> { choices in choices.chance(1, in: 2) ? make(choices) : nil }
  }
}

extension Generator where Value: Sendable {
  /// Returns a generator of one constant value; it draws nothing.
  public static func always(_ value: Value) -> Generator {
    Generator { _ in value }
  }

  /// Returns a generator that picks one of the values; the first is the simplest.
  public static func element(of first: Value, _ others: Value...) -> Generator {
    Generator { choices in choices.pick([first] + others) ?? first }
  }
}

extension Generator {
  /// Returns a generator that picks one of the generators for each value; the first is the
  /// simplest.
  public static func any(of first: Generator, _ others: Generator...) -> Generator {
    Generator { choices in (choices.pick([first] + others) ?? first)(choices) }
  }
}

extension Generator where Value == Int {
  /// Returns a generator of numbers in the range.
  ///
  /// The lower bound is the simplest. In a range of more than 256 numbers, values near both ends
  /// are more likely than others.
  public static func integer(in range: ClosedRange<Int>) -> Generator {
    Generator { choices in choices.draw(in: range) }
  }
}
