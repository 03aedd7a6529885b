/// Makes a value from draws.
///
/// There is no filter: a generator that throws values away shrinks badly. Make only what is wanted, or
/// discard the case with `Choices.assume`.
///
/// - Requirement: TST-1
public struct Generator<Value>: Sendable {
  private let make: @Sendable (Choices) -> Value

  /// A generator that asks `make` for each value.
  public init(_ make: @escaping @Sendable (Choices) -> Value) {
    self.make = make
  }

  /// The next value.
  public func callAsFunction(_ choices: Choices) -> Value {
    choices.span { make(choices) }
  }

  /// A generator of what `transform` makes of each value.
  public func map<Other>(_ transform: @escaping @Sendable (Value) -> Other) -> Generator<Other> {
    let make = make
    return Generator<Other> { choices in transform(make(choices)) }
  }

  /// A generator whose second draws depend on the first value.
  public func flatMap<Other>(_ next: @escaping @Sendable (Value) -> Generator<Other>)
    -> Generator<Other>
  {
    let make = make
    return Generator<Other> { choices in next(make(choices))(choices) }
  }

  /// A generator of both values, this one's first.
  public func zip<Other>(_ other: Generator<Other>) -> Generator<(Value, Other)> {
    let make = make
    return Generator<(Value, Other)> { choices in (make(choices), other(choices)) }
  }

  /// A generator of lists; the shortest is the simplest.
  ///
  /// Random lists have about `mean` elements more than the least count. Each element is a span of its
  /// own, with the draw that asks for it, so that any of them can be removed.
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

  /// A generator of the value or of nothing; nothing is the simplest.
  public func optional() -> Generator<Value?> {
    let make = make
    return Generator<Value?> { choices in choices.chance(1, in: 2) ? make(choices) : nil }
  }
}

extension Generator where Value: Sendable {
  /// Always the same value; draws nothing.
  public static func always(_ value: Value) -> Generator {
    Generator { _ in value }
  }

  /// One of the values; the first is the simplest.
  public static func element(of first: Value, _ others: Value...) -> Generator {
    Generator { choices in choices.pick([first] + others) ?? first }
  }
}

extension Generator {
  /// What one of the generators makes, drawn anew for each value; the first is the simplest.
  public static func any(of first: Generator, _ others: Generator...) -> Generator {
    Generator { choices in (choices.pick([first] + others) ?? first)(choices) }
  }
}

extension Generator where Value == Int {
  /// A number in the range; its lower bound is the simplest, and the ends are likely.
  public static func integer(in range: ClosedRange<Int>) -> Generator {
    Generator { choices in choices.draw(in: range) }
  }
}
